// KafkaJS: SASL/OAUTHBEARER gets its tokens from a callback.
import { clientCredentials, credentialsFrom } from '@tokenwell/core'
import { Kafka } from 'kafkajs'

const tokens = clientCredentials(credentialsFrom(process.env))

// KafkaJS calls this function for each connection and before each reauthentication.
export async function oauthBearerProvider(): Promise<{ value: string }> {
  const { value } = await tokens.getToken({ minimumValidityMs: 60_000 })
  return { value }
}

export const kafka = new Kafka({
  brokers: ['kafka.example.com:9093'],
  ssl: true,
  sasl: { mechanism: 'oauthbearer', oauthBearerProvider },
})
