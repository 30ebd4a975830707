import { createSpeechApi } from '@tokenwell/speech-api'
import { allowPages } from '../src/platform/allow-pages.ts'

// The speech API as a program, which a test can kill.
const { AUTH_URL, CLIENT_ID, CLIENT_SECRET, PORT, PAGE_ORIGIN } = process.env
const api = createSpeechApi({
  authUrl: AUTH_URL!,
  clientId: CLIENT_ID!,
  clientSecret: CLIENT_SECRET!,
  quiet: true,
})
allowPages(api, [PAGE_ORIGIN!])
process.stdout.write(await api.listen({ port: Number(PORT), host: '127.0.0.1' }))
process.once('SIGTERM', () => void api.close())
