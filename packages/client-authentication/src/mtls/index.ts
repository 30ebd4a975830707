export { mutualTls, type MutualTls, type MutualTlsOptions } from './mutual-tls.ts'
