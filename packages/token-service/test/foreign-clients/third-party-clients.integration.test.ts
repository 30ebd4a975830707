import { OAuth2Client } from '@badgateway/oauth2-client'
import { create } from 'axios'
import { clientCredentials } from 'axios-oauth-client'
import * as openid from 'openid-client'
import { ClientCredentials } from 'simple-oauth2'
import { describe, expect, it } from 'vitest'
import { application, introspect, testService, tokenPath } from '../test-service.ts'

const { clientId, clientSecret } = application
const endpoint = `${tokenPath}?grant_type=client_credentials`

/** The token request of each client, given the URL of the service and its metadata. */
const clients: Record<string, (authUrl: string) => Promise<string>> = {
  async 'openid-client, by metadata'(authUrl) {
    const config = await openid.discovery(new URL(authUrl), clientId, clientSecret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    return (await openid.clientCredentialsGrant(config)).access_token
  },
  async 'openid-client, by metadata and Basic'(authUrl) {
    const method = openid.ClientSecretBasic(clientSecret)
    const config = await openid.discovery(new URL(authUrl), clientId, undefined, method, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    return (await openid.clientCredentialsGrant(config)).access_token
  },
  async 'simple-oauth2'(authUrl) {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: authUrl, tokenPath: endpoint },
      options: { authorizationMethod: 'body' },
    })
    const { token } = await client.getToken({})
    expect(client.createToken(token).expired()).toBe(false)
    return String(token['access_token'])
  },
  async 'simple-oauth2, by Basic'(authUrl) {
    const client = new ClientCredentials({
      client: { id: clientId, secret: clientSecret },
      auth: { tokenHost: authUrl, tokenPath: endpoint },
    })
    return String((await client.getToken({})).token['access_token'])
  },
  async '@badgateway/oauth2-client'(server) {
    const client = new OAuth2Client({ server, tokenEndpoint: endpoint, clientId, clientSecret })
    return (await client.clientCredentials()).accessToken
  },
  async '@badgateway/oauth2-client, by metadata'(server) {
    const client = new OAuth2Client({ server, clientId, clientSecret })
    return (await client.clientCredentials()).accessToken
  },
  async 'axios-oauth-client'(authUrl) {
    const getToken = clientCredentials(create(), authUrl + endpoint, clientId, clientSecret)
    return (await getToken('')).access_token
  },
}

describe('a third-party client', () => {
  it.each(Object.entries(clients))('gets a token: %s', async (_name, getToken) => {
    for (const errors of ['platform', 'standard'] as const) {
      const { authUrl } = await testService({ errors })
      const { body } = await introspect(authUrl, await getToken(authUrl))
      expect(body).toMatchObject({ active: true, client_id: clientId })
    }
  })

  it('introspects and revokes with openid-client', async () => {
    const { authUrl } = await testService({ resourceServers: [{ clientId, clientSecret }] })
    const config = await openid.discovery(new URL(authUrl), clientId, clientSecret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    const { access_token, expires_in } = await openid.clientCredentialsGrant(config)
    expect(expires_in).toBe(3600)
    expect((await openid.tokenIntrospection(config, access_token)).active).toBe(true)
    await openid.tokenRevocation(config, access_token)
    expect((await openid.tokenIntrospection(config, access_token)).active).toBe(false)
  })

  it('reports our errors in its own terms', async () => {
    const { authUrl } = await testService({ errors: 'standard' })
    const config = await openid.discovery(new URL(authUrl), clientId, 'wrong', undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    })
    const rejected = openid.clientCredentialsGrant(config)
    await expect(rejected).rejects.toMatchObject({ status: 401 })
  })
})
