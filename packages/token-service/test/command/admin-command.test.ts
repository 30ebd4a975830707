import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseCommandLine } from '../../src/command/parse-command-line.ts'
import { temporaryFolder } from '../service-process.ts'

it.each<[command: string, method: string, path: string, body?: object]>([
  ['applications', 'GET', '/applications'],
  ['application a/b', 'GET', '/applications/a%2Fb'],
  ['projects', 'GET', '/projects'],
  ['create-project n', 'POST', '/projects', { name: 'n' }],
  [
    'create-project n --organization-name o --developer-email a@example.com',
    'POST',
    '/projects',
    { name: 'n', organizationName: 'o', developerEmail: 'a@example.com' },
  ],
  ['create-application n --project-id p', 'POST', '/applications', { name: 'n', projectId: 'p' }],
  [
    'create-application n --project-id p --products x y --scopes r w --lifetime-seconds 60',
    'POST',
    '/applications',
    { name: 'n', projectId: 'p', products: ['x', 'y'], scopes: ['r', 'w'], lifetimeSeconds: 60 },
  ],
  [
    'change-tokens a --token-format jwt --audiences x y --claims {"t":1}',
    'PATCH',
    '/applications/a',
    { tokenFormat: 'jwt', audiences: ['x', 'y'], claims: { t: 1 } },
  ],
  ['change-tokens a --audiences x', 'PATCH', '/applications/a', { audiences: ['x'] }],
  ['signing-keys', 'GET', '/signing-keys'],
  ['rotate-signing-key', 'POST', '/signing-keys/rotation', {}],
  ['rotate-signing-key --overlap-seconds 60', 'POST', '/signing-keys/rotation', { overlapSeconds: 60 }],
  ['rotate-signing-key --emergency', 'POST', '/signing-keys/rotation', { emergency: true }],
  ['approve a', 'POST', '/applications/a/approve', {}],
  ['decline a', 'POST', '/applications/a/decline', {}],
  ['decline a --reason no', 'POST', '/applications/a/decline', { reason: 'no' }],
  ['revoke a', 'POST', '/applications/a/revoke'],
  ['revoke-tokens a', 'POST', '/applications/a/revoke-tokens'],
  ['resource-servers', 'GET', '/resource-servers'],
  ['create-resource-server n', 'POST', '/resource-servers', { name: 'n' }],
  ['rename-resource-server a/b n', 'PATCH', '/resource-servers/a%2Fb', { name: 'n' }],
  ['remove-resource-server a/b', 'DELETE', '/resource-servers/a%2Fb'],
  ['rotate-secret a/b', 'POST', '/applications/a%2Fb/secrets', {}],
  [
    'rotate-secret-of-resource-server a --overlap-seconds 60',
    'POST',
    '/resource-servers/a/secrets',
    { overlapSeconds: 60 },
  ],
  ['revoke-secret a s', 'DELETE', '/applications/a/secrets/s'],
  ['revoke-secret-of-resource-server a s', 'DELETE', '/resource-servers/a/secrets/s'],
  ['add-key a HTTPS://a/b --name n', 'POST', '/applications/a/keys', { key: 'HTTPS://a/b', name: 'n' }],
  ['add-key a http://a/b', 'POST', '/applications/a/keys', { key: 'http://a/b' }],
  ['rename-key a k n', 'PATCH', '/applications/a/keys/k', { name: 'n' }],
  ['rename-key-of-resource-server a k n', 'PATCH', '/resource-servers/a/keys/k', { name: 'n' }],
  ['remove-key a k', 'DELETE', '/applications/a/keys/k'],
  ['remove-key-of-resource-server a k', 'DELETE', '/resource-servers/a/keys/k'],
  ['scopes', 'GET', '/scopes'],
  ['set-scope orders:read', 'PUT', '/scopes/orders%3Aread', {}],
  ['set-scope a --audience b --description c', 'PUT', '/scopes/a', { audience: 'b', description: 'c' }],
  [
    'create-resource-server n --audiences a b',
    'POST',
    '/resource-servers',
    { name: 'n', audiences: ['a', 'b'] },
  ],
  [
    'bind-resource-server a --audiences b c',
    'PUT',
    '/resource-servers/a/audiences',
    { audiences: ['b', 'c'] },
  ],
  ['unbind-resource-server a', 'DELETE', '/resource-servers/a/audiences'],
  ['change-tokens a --dpop required', 'PATCH', '/applications/a', { dpop: 'required' }],
  ['remove-scope orders:read', 'DELETE', '/scopes/orders%3Aread'],
  ['products', 'GET', '/products'],
  ['set-product a/b', 'PUT', '/products/a%2Fb', {}],
  ['set-product a --description b', 'PUT', '/products/a', { description: 'b' }],
  ['remove-product a/b', 'DELETE', '/products/a%2Fb'],
  ['developers', 'GET', '/developers'],
  ['invite', 'POST', '/invitations'],
  ['invitations', 'GET', '/invitations'],
  ['withdraw-invitation a/b', 'DELETE', '/invitations/a%2Fb'],
  ['password-link a/b', 'POST', '/developers/a%2Fb/password-link'],
  ['promote a', 'POST', '/developers/a/promote'],
  ['demote a', 'POST', '/developers/a/demote'],
  ['remove-developer a/b', 'DELETE', '/developers/a%2Fb'],
  ['audit', 'GET', '/audit'],
  [
    'audit --limit 5 --since 2026 --until 2027 --client-id a --event e',
    'GET',
    '/audit?limit=5&since=2026&until=2027&clientId=a&event=e',
  ],
])('admin %s requests %s %s', async (command, method, path, body) => {
  const args = ['node', 'tokenwell-service', 'admin', ...command.split(' ')]
  expect(await parseCommandLine(args)).toEqual({
    request: { method, path, body },
    environment: { ...process.env },
  })
})

it('follows the audit log from its first entry, or from the one that is named', async () => {
  const parse = (...args: string[]) => parseCommandLine(['node', 'c', 'admin', 'audit', ...args])
  expect(await parse('--follow')).toMatchObject({ request: { path: '/audit?after=0', follow: 'after' } })
  expect(await parse('--follow', '--after', '7')).toMatchObject({ request: { path: '/audit?after=7' } })
  expect((await parse('--after', '7')) as object).not.toHaveProperty('request.follow')
})

it('reads a public key from a file, whatever its name is', async () => {
  const file = join(temporaryFolder({ 'https:key.pem': 'the key' }), 'https:key.pem')
  const args = ['node', 'tokenwell-service', 'admin', 'add-key', 'a', file]
  expect(await parseCommandLine(args)).toMatchObject({ request: { body: { key: 'the key' } } })
})
