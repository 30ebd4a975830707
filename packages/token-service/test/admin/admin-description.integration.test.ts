import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { adminDescription } from '../../src/admin/admin-description.ts'
import { administeredService } from '../test-service.ts'
import { featureOperations } from '../../src/features/all-operations.ts'

interface Description {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, unknown> }>>
}

describe("the administrators' OpenAPI document", () => {
  it('is served to administrators alone, as JSON and as YAML', async () => {
    const { adminUrl, send } = await administeredService()
    expect((await fetch(`${adminUrl}/openapi.json`)).status).toBe(401)
    const { body } = await send('GET', '/openapi.json')
    expect(body).toEqual(JSON.parse(JSON.stringify(adminDescription(adminUrl!, featureOperations))))
    expect(parse((await send('GET', '/openapi.yaml')).body as never)).toEqual(body)
  })

  it('is true of the responses', async () => {
    const service = await administeredService()
    const description = adminDescription(service.adminUrl!, featureOperations) as Description
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(description, 'description')
    const checked = async (
      method: string,
      template: string,
      values: Record<string, string> = {},
      requestBody?: unknown,
    ) => {
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]!)
      const { status, body, headers } = await service.send(method.toUpperCase(), path, requestBody)
      expect(description.paths[template]?.[method]?.responses).toHaveProperty(String(status))
      if (headers.get('content-type')?.startsWith('application/json')) {
        const pointer = [
          'paths',
          template,
          method,
          'responses',
          String(status),
          'content',
          'application/json',
          'schema',
        ]
          .map((part) => encodeURIComponent(part.replaceAll('/', '~1')))
          .join('/')
        const isValid = ajv.getSchema(`description#/${pointer}`)!
        expect([isValid(body), isValid.errors]).toEqual([true, null])
      }
      return { status, body }
    }
    const status = async (...request: Parameters<typeof checked>) => (await checked(...request)).status

    const [{ id: projectId }] = (await checked('get', '/projects')).body
    const orders = { name: 'orders', projectId, products: ['billing'] }
    const { clientId } = (await checked('post', '/applications', {}, orders)).body
    const values = { clientId }
    const application = '/applications/{clientId}'
    expect(await status('post', '/applications', {}, { name: '' })).toBe(400)
    expect(await status('get', '/applications')).toBe(200)
    for (const decision of ['revoke', 'approve', 'revoke-tokens']) {
      expect([decision, await status('post', `${application}/${decision}`, values)]).toEqual([decision, 200])
    }
    expect(await status('post', `${application}/secrets`, values)).toBe(201)
    const key = { key: 'https://keys.example.com/jwks.json', name: 'keys' }
    expect(await status('post', `${application}/keys`, values, key)).toBe(201)
    expect(await status('get', application, values)).toBe(200)
    expect(await status('get', application, { clientId: 'nobody' })).toBe(404)
    expect(await status('get', '/products')).toBe(200)
    const api = (await checked('post', '/resource-servers', {}, { name: 'api' })).body
    expect(await status('get', '/resource-servers/{clientId}', api)).toBe(200)
    expect(await status('get', '/resource-servers')).toBe(200)
    const { body: invitation } = await checked('post', '/invitations')
    expect(await status('get', '/invitations')).toBe(200)
    expect(await status('delete', '/invitations/{id}', invitation)).toBe(204)
    expect(await status('delete', '/invitations/{id}', invitation)).toBe(404)
    expect(await status('get', '/developers')).toBe(200)
    expect(await status('get', '/audit')).toBe(200)
  })
})
