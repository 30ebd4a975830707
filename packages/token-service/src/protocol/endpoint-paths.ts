export const tokenPath = '/oauth/client_credential/accesstoken'
export const introspectionPath = '/oauth/introspect'
export const revocationPath = '/oauth/revoke'
