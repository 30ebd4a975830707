import { z } from 'zod'
import { errorSchema, type formSchema, transcriptionSchema } from './schemas.ts'

/** The path of all transcriptions. */
export const PATH = '/v1/transcriptions'

export interface DescriptionOptions {
  readonly serverUrl: string
  readonly authUrl: string | URL
  readonly form: ReturnType<typeof formSchema>
}

/** The API as an OpenAPI 3.1 document, from the schemas that check its requests. */
export function openApi({ serverUrl, authUrl, form }: DescriptionOptions): object {
  const tokens = `${String(authUrl).replace(/\/+$/, '')}/oauth/client_credential/accesstoken`
  const transcription = (description: string) => ({
    description,
    headers: {
      'Retry-After': {
        schema: { type: 'integer' },
        description: 'While it is running: seconds until the next poll.',
      },
    },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Transcription' } } },
  })
  const errors = {
    '4XX': { $ref: '#/components/responses/Error' },
    '5XX': { $ref: '#/components/responses/Error' },
  }
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
  return {
    openapi: '3.1.0',
    info: { title: 'Speech to text', version: '1', description: 'Transcribes recordings of English speech.' },
    servers: [{ url: serverUrl }],
    security: [{ platform: [] }],
    paths: {
      [PATH]: {
        post: {
          operationId: 'transcribe',
          summary: 'Transcribe a recording',
          requestBody: {
            required: true,
            content: { 'multipart/form-data': { schema: { $ref: '#/components/schemas/Recording' } } },
          },
          responses: {
            200: transcription('The transcript.'),
            202: transcription('The recording is long: poll `Location`.'),
            ...errors,
          },
        },
      },
      [`${PATH}/{id}`]: {
        get: {
          operationId: 'getTranscription',
          summary: 'Get a transcript, or the progress',
          parameters,
          responses: { 200: transcription('Can be repeated for ten minutes after it is done.'), ...errors },
        },
        delete: {
          operationId: 'deleteTranscription',
          summary: 'Cancel and delete',
          parameters,
          responses: { 204: { description: 'Deleted.' }, ...errors },
        },
      },
    },
    components: {
      schemas: {
        Recording: jsonSchema(form, 'input'),
        Transcription: jsonSchema(transcriptionSchema, 'output'),
        Error: jsonSchema(errorSchema, 'output'),
      },
      responses: {
        Error: {
          description: 'A code, and one sentence.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
      securitySchemes: {
        platform: {
          type: 'oauth2',
          description: 'A token of an application that has the product `speech-to-text`.',
          // The platform reads the grant type from the query.
          flows: { clientCredentials: { tokenUrl: `${tokens}?grant_type=client_credentials`, scopes: {} } },
        },
      },
    },
  }
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}
