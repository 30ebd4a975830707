import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleOf } from '../support/recordings.ts'
import { startTestApi, type TestApi } from '../support/test-api.ts'

let api: TestApi
// oxlint-disable-next-line typescript/no-explicit-any -- an OpenAPI document
let document: any
beforeAll(async () => {
  api = await startTestApi()
  document = await (await fetch(`${api.url}/openapi.json`)).json()
})
afterAll(() => api[Symbol.asyncDispose]())

test('is a valid OpenAPI document of this server', async () => {
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
  expect(document.servers).toEqual([{ url: api.url }])
})

test('describes the form that is checked', () => {
  const { required, properties, additionalProperties } = document.components.schemas.Recording
  expect({ required, additionalProperties }).toEqual({
    required: ['expected', 'file'],
    additionalProperties: false,
  })
  expect(properties.expected.enum).toEqual(['digits', 'numbers', 'codes', 'phrases', 'text'])
  expect(properties.file).toMatchObject({ type: 'string', format: 'binary' })
})

test('describes the responses', async () => {
  const ajv = new Ajv2020({ strict: false })
  const response = await (await api.post()).json()
  expect(ajv.validate(document.components.schemas.Transcription, response)).toBe(true)
  const error = await (await api.post({})).json()
  expect(ajv.validate(document.components.schemas.Error, error)).toBe(true)
})

test('names a token endpoint whose tokens the API accepts', async () => {
  const { tokenUrl } = document.components.securitySchemes.platform.flows.clientCredentials
  const credentials = { client_id: 'other', client_secret: 'the secret of other, which is long' }
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...credentials })
  const { access_token: token } = await (await fetch(tokenUrl, { method: 'POST', body })).json()
  const form = new FormData()
  form.set('expected', 'digits')
  form.set('file', new Blob([sampleOf('digits').wav]))
  const headers = { authorization: `Bearer ${token}` }
  const [[path]] = Object.entries(document.paths) as [[string, object]]
  const response = await fetch(document.servers[0].url + path, { method: 'POST', headers, body: form })
  expect(response.status).toBe(200)
})
