/** The injection token of the module's `clientCertificate`. */
export const CLIENT_CERTIFICATE = 'ResourceServerModule.clientCertificate'
