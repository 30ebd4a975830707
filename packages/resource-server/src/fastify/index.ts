export { resourceServer, type ResourceServerPluginOptions } from './resource-server.ts'
