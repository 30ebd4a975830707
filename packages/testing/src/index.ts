export type { AdapterClient, AdapterRequest, AdapterResult, AdapterUnderTest } from './adapter-under-test.ts'
export { describeAdapter } from './describe-adapter.ts'
export { expectNoneShown } from './expect-none-shown.ts'
export { toFetchInit } from './fetch-init.ts'
export { createAxiosClient } from './axios-client.ts'
export { createFakeClock, type FakeClock } from './fake-clock.ts'
export { invalidToken, startProtectedApi, type ProtectedApi } from './protected-api.ts'
export { runReadmeExample } from './readme-example.ts'
export type { RequestBody } from './request-body.ts'
export {
  json,
  silence,
  startScriptedServer,
  type ScriptedAnswer,
  type ScriptedServer,
  type SeenRequest,
} from './scripted-server.ts'
export { useTestServers, type TestServers } from './test-servers.ts'
export { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'
export { describeTokenStore, type TokenStoreContractOptions } from './token-store-contract.ts'
