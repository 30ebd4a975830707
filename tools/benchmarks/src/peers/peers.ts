import type { Peer } from './peer.ts'

/** Ours first. Each is loaded only where it is measured. */
const loaders = {
  tokenwell: async () => (await import('./tokenwell.ts')).tokenwell,
  'tokenwell-axios': async () => (await import('./tokenwell-axios.ts')).tokenwellAxios,
  'tokenwell-ky': async () => (await import('./tokenwell-ky.ts')).tokenwellKy,
  'tokenwell-redis': async () => (await import('./tokenwell-redis.ts')).tokenwellRedis,
  closure: async () => (await import('./closure.ts')).closure,
  'openid-client': async () => (await import('./openid-client.ts')).openidClient,
  oauth4webapi: async () => (await import('./oauth4webapi.ts')).oauth4webapi,
  'simple-oauth2': async () => (await import('./simple-oauth2.ts')).simpleOauth2,
  'badgateway-oauth2-client': async () =>
    (await import('./badgateway-oauth2-client.ts')).badgatewayOauth2Client,
  'axios-token-interceptor': async () => (await import('./axios-token-interceptor.ts')).axiosTokenInterceptor,
  'axios-auth-refresh': async () => (await import('./axios-auth-refresh.ts')).axiosAuthRefresh,
  'azure-core-rest-pipeline': async () =>
    (await import('./azure-core-rest-pipeline.ts')).azureCoreRestPipeline,
  'google-auth-library': async () => (await import('./google-auth-library.ts')).googleAuthLibrary,
} satisfies Record<string, () => Promise<Peer>>

export type PeerId = keyof typeof loaders

export const allIds = Object.keys(loaders) as PeerId[]

/** Those that are measured in one process: all except the one with a shared store. */
export const peerIds: PeerId[] = allIds.filter((id) => id !== 'tokenwell-redis')

export function loadPeer(id: PeerId): Promise<Peer> {
  return loaders[id]()
}
