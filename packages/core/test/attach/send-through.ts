import type {
  ApiResponse,
  Attachment,
  AttachRequest,
  SentRequest,
  TokenAttacher,
} from '@tokenwell/core/adapter'

export const api = 'https://api.example.com'

export const get = (url: string | URL): AttachRequest => ({ method: 'GET', url })

/** The API's responses to the requests of one call, the last one again for every further request. */
export type ApiScript = readonly Partial<SentRequest<unknown>>[]

export const fine: ApiResponse = { status: 200, headers: {} }
export const rejection: ApiResponse = { status: 401, headers: {} }

export interface SentThrough {
  /** Status of the response that the caller got. */
  readonly status: number
  readonly attachments: readonly (Attachment | undefined)[]
  /** Values of the `Authorization` header. */
  readonly sent: readonly (string | undefined)[]
}

/** Makes one call through an attacher, as an adapter does. */
export async function sendThrough(
  attacher: TokenAttacher,
  request: AttachRequest,
  script: ApiScript = [fine],
  signal?: AbortSignal | null,
): Promise<SentThrough> {
  const attachments: (Attachment | undefined)[] = []
  const status = await attacher.send(request, signal, async (attachment) => {
    attachments.push(attachment)
    const response = { ...fine, ...script[Math.min(attachments.length, script.length) - 1] }
    return { ...response, result: response.status }
  })
  return { status, attachments, sent: attachments.map((attachment) => attachment?.headers['Authorization']) }
}
