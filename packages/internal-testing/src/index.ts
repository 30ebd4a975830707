export { expectNoSecrets } from './expect-no-secrets.ts'
export { invalidTokenChallenge, startProtectedApi, type ProtectedApi } from './servers/protected-api.ts'
export {
  json,
  noResponse,
  startScriptedServer,
  type ReceivedRequest,
  type ScriptedResponse,
  type ScriptedServer,
} from './servers/scripted-server.ts'
export { startTokenEndpoint, type TokenEndpoint } from './servers/token-endpoint.ts'
