import { noResponse, startScriptedServer, type ScriptedServer } from '@tokenwell/internal-testing'
import { startTokenService, type RunningTokenService } from '@tokenwell/token-service'
import { hasAuthlib, startAuthlib } from './servers/authlib.ts'
import type { ForeignServer } from './servers/foreign-server.ts'
import { startJwtIssuer, type JwtIssuer } from './servers/jwt-issuer.ts'
import { resourceServer, startOidcProvider, type OidcProvider } from './servers/oidc-provider.ts'

/** All servers that tokens of the table come from. */
export interface AuthorizationServers {
  readonly platform: RunningTokenService
  readonly platformToken: string
  readonly platformRevoked: string
  /** Of an application with other products. */
  readonly platformOther: string
  readonly oidc: OidcProvider
  readonly jwt: JwtIssuer
  /** An introspection endpoint whose response is in the token itself. */
  readonly lying: ScriptedServer
  readonly authlib: ForeignServer | undefined
  close(): Promise<void>
}

export async function startAuthorizationServers(): Promise<AuthorizationServers> {
  const [platform, oidc, jwt, lying, authlib] = await Promise.all([
    startTokenService({
      applications: [
        {
          name: 'client',
          clientId: 'client',
          clientSecret: 'client-secret',
          products: ['orders', 'translation'],
        },
        { name: 'other', clientId: 'other', clientSecret: 'other-secret', products: ['translation'] },
      ],
      resourceServers: [resourceServer],
    }),
    startOidcProvider(),
    startJwtIssuer(),
    startScriptedServer(({ body }) => {
      const token = new URLSearchParams(body).get('token') ?? ''
      const { hang, drop, ...response } = JSON.parse(Buffer.from(token, 'base64url').toString())
      if (hang) return noResponse
      return drop ? 'drop' : response
    }),
    hasAuthlib ? startAuthlib() : undefined,
  ])
  const platformRevoked = await requestToken(platform, 'client')
  await fetch(`${platform.authUrl}/oauth/revoke`, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: 'client',
      client_secret: 'client-secret',
      token: platformRevoked,
    }),
  })
  return {
    platform,
    platformToken: await requestToken(platform, 'client'),
    platformOther: await requestToken(platform, 'other'),
    platformRevoked,
    oidc,
    jwt,
    lying,
    authlib,
    async close() {
      await Promise.all([platform.close(), oidc.close(), jwt.close(), lying.close(), authlib?.close()])
    },
  }
}

async function requestToken({ authUrl }: RunningTokenService, client: string): Promise<string> {
  const response = await fetch(
    `${authUrl}/oauth/client_credential/accesstoken?grant_type=client_credentials`,
    { method: 'POST', body: new URLSearchParams({ client_id: client, client_secret: `${client}-secret` }) },
  )
  return ((await response.json()) as { access_token: string }).access_token
}
