// DynamoDB: all processes share one token, and one token request, through one item of a table with the key `name`.
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb'
import { clientCredentials, createTokenFetch, credentialsFrom, type TokenStore } from '@tokenwell/core'
import { tokenSharing } from '@tokenwell/core/adapter'
import { createEntryFormat, type Entry, type EntryKind } from '@tokenwell/token-stores'

/** DynamoDB has no clock to compare with: the clocks of the processes must agree to within a second. */
export function createDynamodbTokenStore(client: DynamoDBClient, table: string, key: string): TokenStore {
  const format = createEntryFormat({ store: 'dynamodb store', encryptionKeys: [key] })

  /** Changes the item atomically; false if the condition is not met. */
  async function update(
    name: string,
    change: string,
    condition: string,
    names: Record<string, string>,
    values: Record<string, AttributeValue> = {},
  ): Promise<boolean> {
    const command = new UpdateItemCommand({
      TableName: table,
      Key: { name: { S: name } },
      UpdateExpression: change,
      ConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    })
    try {
      await client.send(command)
      return true
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false
      throw error
    }
  }

  return {
    sharing: tokenSharing,
    async read(cacheKey) {
      const [name] = format.names(cacheKey)
      const { Item } = await client.send(
        new GetItemCommand({ TableName: table, Key: { name: { S: name } }, ConsistentRead: true }),
      )
      return format.read(cacheKey, [
        { now: Date.now(), token: Item?.['token']?.S, cooldown: Item?.['cooldown']?.S },
      ])
    },
    async remove(cacheKey, id) {
      const [name] = format.names(cacheKey)
      const names = { '#token': 'token' }
      await update(name, 'remove #token', 'begins_with(#token, :id)', names, { ':id': { S: `${id}.` } })
    },
    async lease(cacheKey, ttlMs, slot) {
      const [name] = format.names(cacheKey)
      const names = { '#holder': slot ?? 'lease', '#until': `${slot ?? 'lease'}Until` }
      const leasedAt = Date.now()
      const holder = { ':holder': { S: crypto.randomUUID() } }
      const at = (ms: number): AttributeValue => ({ N: String(Math.ceil(ms)) })
      const isCurrent = '#holder = :holder and #until > :now'
      const taken = await update(
        name,
        'set #holder = :holder, #until = :until',
        'attribute_not_exists(#until) or #until <= :now',
        names,
        { ...holder, ':now': at(leasedAt), ':until': at(leasedAt + ttlMs) },
      )
      if (!taken) return undefined

      async function write<Kind extends EntryKind>(
        kind: Kind,
        content: Entry<Kind>['content'],
        expiresAt: number,
      ): Promise<string | undefined> {
        const id = crypto.randomUUID()
        const entry = format.encode(cacheKey, kind, { id, expiresAt: Math.floor(expiresAt), content })
        const written = await update(
          name,
          kind === 'token' ? 'set #entry = :entry remove cooldown' : 'set #entry = :entry',
          isCurrent,
          { ...names, '#entry': kind },
          { ...holder, ':now': at(Date.now()), ':entry': { S: entry } },
        )
        return written ? id : undefined
      }

      return {
        write: (response, lifetimeMs) => write('token', response, leasedAt + lifetimeMs),
        async writeCooldown(error, ms) {
          await write('cooldown', error, Date.now() + ms)
        },
        extend(ms) {
          const values = { ...holder, ':now': at(Date.now()), ':until': at(Date.now() + ms) }
          return update(name, 'set #until = :until', isCurrent, names, values)
        },
        async release() {
          await update(name, 'remove #holder, #until', '#holder = :holder', names, holder)
        },
      }
    },
  }
}

// Its endpoint, region and credentials are taken from the environment.
const client = new DynamoDBClient()

const tokens = clientCredentials({
  ...credentialsFrom(process.env),
  store: createDynamodbTokenStore(client, 'tokens', process.env['TOKEN_KEY']!),
})
const api = createTokenFetch(tokens, { baseUrl: process.env['API_URL'] })

export async function listOrders(): Promise<string[]> {
  const response = await api('/v1/orders')
  const orders = (await response.json()) as { item: string }[]
  return orders.map(({ item }) => item)
}
