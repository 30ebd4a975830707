import { accessTokenHash, createAccessToken } from '../../src/oauth/token-storage.ts'
import { openTestSqlite } from '../storage/open-test-storage.ts'

// Saves tokens in the database of a service that is not running: FILE CLIENT_ID COUNT
const [file = '', clientId = '', count = ''] = process.argv.slice(2)
const storage = await openTestSqlite(file)
const client = await storage.applications.findClient(clientId)
const [secret] = client?.secrets ?? []
if (!client || !secret) throw new Error('There is no such application.')
const { products, scopes, audiences, tokenGeneration: generation } = client.application
const owner = { applicationId: secret.ownerId, secretId: secret.id, generation, products, scopes, audiences }
async function save(): Promise<void> {
  const issuedAtMs = Date.now()
  await storage.tokens.save({
    hash: accessTokenHash(createAccessToken(issuedAtMs)),
    ...owner,
    issuedAtMs,
    expiresAtMs: issuedAtMs + 3_600_000,
  })
}
for (let saved = 0; saved < Number(count); saved += 500) {
  await Promise.all(Array.from({ length: 500 }, save))
}
await storage.close()
