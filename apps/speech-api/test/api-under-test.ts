import { startSpeechApi, type SpeechApiOptions } from '@tokenwell/speech-api'
import { type IntrospectionServer, startIntrospectionServer } from './introspection-server.ts'

export const GOOD_TOKEN = 'good-token-0123456789'

export interface ApiUnderTest extends AsyncDisposable {
  readonly url: string
  readonly tokenService: IntrospectionServer
  /** Posts to the transcriptions, with a good token unless the headers name another. */
  post(body: RequestInit['body'], headers?: Record<string, string>): Promise<Response>
}

/** A speech API on a free port, with a token service of its own. */
export async function startApi(options: Partial<SpeechApiOptions> = {}): Promise<ApiUnderTest> {
  const tokenService = await startIntrospectionServer()
  tokenService.tokens.set(GOOD_TOKEN, {
    active: true,
    client_id: 'a-client',
    scope: '',
    exp: Math.floor(Date.now() / 1_000) + 3_600,
    api_products: ['translation', 'speech-to-text'],
  })
  const api = await startSpeechApi({
    authUrl: tokenService.authUrl,
    clientId: 'speech-api',
    clientSecret: 'speech-secret',
    quiet: true,
    ...options,
  })
  return {
    url: api.url,
    tokenService,
    post: (body, headers = {}) =>
      fetch(`${api.url}/v1/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${GOOD_TOKEN}`, 'content-type': 'audio/wav', ...headers },
        ...(body === undefined ? {} : { body, duplex: 'half' }),
      }),
    async [Symbol.asyncDispose]() {
      await api.close()
      await tokenService.stop()
    },
  }
}
