export type {
  AdapterClient,
  AdapterRequest,
  AdapterResult,
  AdapterUnderTest,
} from './adapter/adapter-under-test.ts'
export { describeAdapter } from './adapter/describe-adapter.ts'
export { toFetchInit } from './adapter/fetch-init.ts'
export type { RequestBody } from './adapter/request-body.ts'
export { describeTokenStore } from './describe-token-store.ts'
export { useTestServers, type TestServers } from './servers/test-servers.ts'
