import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { adminDescription } from '../../src/admin/admin-description.ts'
import { apiDescription } from '../../src/http/openapi/api-description.ts'

const url = 'https://auth.tokenwell.dev'

describe.each([
  ['the token service, errors in the platform format', apiDescription(url, 'platform')],
  ['the token service, standard errors', apiDescription(url, 'standard')],
  ['administrators', adminDescription(url)],
])('the OpenAPI document of %s', (_name, description) => {
  it('has no finding in Spectral', { timeout: 30_000 }, async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [rulesets.oas as never] })
    const findings = await linter.run(description as Record<string, unknown>)
    expect(findings.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`)).toEqual([])
  })

  it('has no finding in Redocly', { timeout: 30_000 }, async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const findings = await lintFromString({
      source: stringify(description),
      absoluteRef: 'openapi.yaml',
      config,
    })
    expect(
      findings.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    ).toEqual([])
  })
})
