import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { Ajv2020 } from 'ajv/dist/2020.js'
import newman from 'newman'
import { convertV2, type CollectionResult } from 'openapi-to-postmanv2'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { adminDescription } from '../../src/admin/admin-description.ts'
import { apiDescription } from '../../src/oauth/api-description.ts'
import {
  application,
  basic,
  introspect,
  postForm,
  requestToken,
  testService,
  tokenPath,
} from '../test-service.ts'
import { featureOperations } from '../../src/features/all-operations.ts'

type Collection = Exclude<newman.NewmanRunOptions['collection'], string>

async function describedService(options: Parameters<typeof testService>[0] = {}) {
  const service = await testService(options)
  const response = await fetch(`${service.authUrl}/openapi.yaml`)
  expect(response.headers.get('content-type')).toMatch(/^application\/yaml/)
  const yaml = await response.text()
  return { ...service, yaml, description: parse(yaml) }
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 with the service as its server', async () => {
    const { description, authUrl } = await describedService()
    expect(await new Validator().validate(description)).toMatchObject({ valid: true })
    expect(description.openapi).toBe('3.1.0')
    expect(description.servers[0].url).toBe(authUrl)
  })

  it('contains no empty text', async () => {
    const { description } = await describedService()
    expect(/"(description|summary|title)":""/.exec(JSON.stringify(description))).toBeNull()
  })

  it('matches the responses of the endpoints', async () => {
    // The default is `platform`.
    for (const format of [undefined, 'standard'] as const) {
      const refreshing = { ...application, clientId: 'refreshing', responseForm: 'refresh' as const }
      const applications = [application, refreshing]
      const { authUrl, description } = await describedService({ format, applications })
      const ajv = new Ajv2020({ strict: false })
      ajv.addSchema(description, 'description')

      const check = (path: string, status: number, body: unknown) => {
        const pointer = `/paths/${path.replaceAll('/', '~1')}/post/responses/${status}/content/application~1json/schema`
        const validate = ajv.getSchema(`description#${pointer}`)
        expect(validate?.(body), `${path} ${status} ${JSON.stringify(validate?.errors)}`).toBe(true)
        expect(validate?.({ other: 1 })).toBe(false)
      }
      const { body: token } = await requestToken(authUrl)
      check(tokenPath, 200, token)
      check(tokenPath, 200, (await requestToken(authUrl, refreshing)).body)
      check(tokenPath, 400, (await postForm(authUrl + tokenPath, {})).body)
      check(tokenPath, 401, (await requestToken(authUrl, { ...application, clientSecret: 'wrong' })).body)
      check('/oauth/introspect', 200, (await introspect(authUrl, token.access_token)).body)
      check('/oauth/introspect', 200, (await introspect(authUrl, 'unknown')).body)
      check('/oauth/introspect', 400, (await postForm(`${authUrl}/oauth/introspect`, {})).body)
      for (const path of [tokenPath, '/oauth/introspect', '/oauth/revoke']) {
        const send = async (init: RequestInit) => {
          const response = await fetch(`${authUrl}${path}`, init)
          const body: unknown = await response.json()
          check(path, response.status, body)
          const { headers } = description.paths[path].post.responses[response.status]
          for (const name of Object.keys(headers)) expect(response.headers.has(name), name).toBe(true)
          return response
        }
        const wrong = { ...basic({ clientId: 'id', clientSecret: 'wrong' }) }
        expect((await send({})).headers.get('allow')).toBe('POST')
        expect((await send({ method: 'PUT' })).status).toBe(405)
        expect((await send({ method: 'POST', body: '{}' })).status).toBe(415)
        expect(
          (await send({ method: 'POST', body: new URLSearchParams({ a: 'x'.repeat(33_000) }) })).status,
        ).toBe(413)
        const query = path === tokenPath ? '?grant_type=client_credentials' : ''
        const guess = () => postForm(`${authUrl}${path}${query}`, {}, wrong)
        check(path, 401, (await guess()).body)
      }
    }
  })

  it('lists the error of an application that is not approved under its status, in either format', async () => {
    for (const format of ['platform', 'standard'] as const) {
      const pending = { ...application, clientId: 'pending', status: 'pending' as const }
      const { authUrl, description } = await describedService({ format, applications: [pending] })
      const { status, body } = await requestToken(authUrl, pending)
      const { content } = description.paths[tokenPath].post.responses[status]
      expect(content['application/json'].examples['application_not_approved'].value).toEqual(body)
    }
  })

  it('contains the public URL', async () => {
    const { description } = await describedService({ publicUrl: 'https://tokens.example.com/base/' })
    expect(description.servers[0].url).toBe('https://tokens.example.com/base')
  })
})

describe('an API client that imports the document', () => {
  it.each([{}, { parametersResolution: 'Example' as const }])(
    'gets a collection whose request "Get Access Token" works with its two variables (%o)',
    async (settings) => {
      const { yaml } = await describedService()
      const converted = await new Promise<CollectionResult | undefined>((resolve, reject) =>
        convertV2({ type: 'string', data: yaml }, settings, (error, result) =>
          error ? reject(error) : resolve(result),
        ),
      )
      const collection = converted?.output?.[0]?.data as Collection
      const summary = await new Promise<newman.NewmanRunSummary>((resolve, reject) => {
        const variables = { client_id: application.clientId, client_secret: application.clientSecret }
        const envVar = Object.entries(variables).map(([key, value]) => ({ key, value }))
        newman.run({ collection, envVar, folder: 'accesstoken' }, (error, result) =>
          error ? reject(error) : resolve(result),
        )
      })
      expect(summary.run.failures).toEqual([])
      const [execution] = summary.run.executions
      expect(execution?.item.name).toBe('Get Access Token')
      expect(execution?.response.code).toBe(200)
      expect(execution?.response.json()).toHaveProperty('access_token')
    },
  )
})

const url = 'https://auth.tokenwell.dev'

describe.each([
  ['the token service, errors in the platform format', apiDescription(url, 'platform')],
  ['the token service, standard errors', apiDescription(url, 'standard')],
  ['administrators', adminDescription(url, featureOperations)],
])('the OpenAPI document of %s', (_name, description) => {
  it('has no finding in Spectral', async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [rulesets.oas as never] })
    const findings = await linter.run(description as Record<string, unknown>)
    expect(findings.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`)).toEqual([])
  })

  it('has no finding in Redocly', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const findings = await lintFromString({
      source: stringify(description),
      absoluteRef: 'openapi.yaml',
      config,
    })
    const found = findings.map(
      ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`,
    )
    // No operation here takes the tokens that the service issues.
    const unused = 'no-unused-components #/components/securitySchemes/clientCredentials:'
    expect(found.filter((finding) => !finding.startsWith(unused))).toEqual([])
  })
})
