import type { RegisteredClient } from '../applications/application.ts'

export interface IssuedToken {
  readonly value: string
  readonly issuedAtMs: number
  readonly lifetimeSeconds: number
}

/** The token response in the application's form: strings throughout, but for the list of products. */
export function tokenResponse(token: IssuedToken, { application, project }: RegisteredClient): object {
  const common = {
    access_token: token.value,
    token_type: 'Bearer',
    expires_in: String(token.lifetimeSeconds),
    issued_at: String(token.issuedAtMs),
    client_id: application.clientId,
    application_name: application.name,
    organization_name: project.organizationName,
    developer_email: project.developerEmail,
    status: application.status,
    scope: '',
    refresh_token_expires_in: '0',
    refresh_count: '0',
  }
  if (application.responseForm === 'refresh') {
    return { ...common, refresh_token: '', level: application.level }
  }
  return {
    ...common,
    api_product_list: `[${application.products.join(', ')}]`,
    api_product_list_json: application.products,
  }
}
