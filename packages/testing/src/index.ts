export type {
  AdapterClient,
  AdapterRequest,
  AdapterResult,
  AdapterUnderTest,
} from './adapter/adapter-under-test.ts'
export { describeAdapter } from './adapter/describe-adapter.ts'
export { toFetchInit } from './adapter/fetch-init.ts'
export type { RequestBody } from './adapter/request-body.ts'
export { expectNoSecrets } from './expect-no-secrets.ts'
export { createFakeClock, type FakeClock } from './fake-clock.ts'
export { invalidTokenChallenge, startProtectedApi, type ProtectedApi } from './servers/protected-api.ts'
export {
  json,
  noResponse,
  startScriptedServer,
  type ReceivedRequest,
  type ScriptedResponse,
  type ScriptedServer,
} from './servers/scripted-server.ts'
export { useTestServers, type TestServers } from './servers/test-servers.ts'
export { startTokenEndpoint, type TokenEndpoint } from './servers/token-endpoint.ts'
export { describeTokenStore, type TokenStoreContractOptions } from './token-store/describe-token-store.ts'
