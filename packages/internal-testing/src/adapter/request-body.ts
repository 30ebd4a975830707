import FormDataPackage from 'form-data'
import { Readable } from 'node:stream'

/** A body as an application passes it to its client. */
export type RequestBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'URLSearchParams'; readonly value: URLSearchParams }
  | { readonly kind: 'FormData'; readonly value: FormData }
  | { readonly kind: 'Buffer'; readonly value: Buffer<ArrayBuffer> }
  | { readonly kind: 'Node stream'; readonly value: Readable }
  | { readonly kind: 'web stream'; readonly value: ReadableStream<Uint8Array> }
  | { readonly kind: 'form-data package'; readonly value: FormDataPackage }

/** Creates a new body for each request. Streams can be sent only once. */
export const requestBodies: readonly {
  readonly kind: RequestBody['kind'] | 'no body'
  readonly sentOnce: boolean
  readonly create: () => RequestBody | undefined
}[] = [
  { kind: 'no body', sentOnce: false, create: () => undefined },
  {
    kind: 'json',
    sentOnce: false,
    create: () => ({ kind: 'json', value: { text: 'grüße', list: [1, null] } }),
  },
  {
    kind: 'URLSearchParams',
    sentOnce: false,
    create: () => ({ kind: 'URLSearchParams', value: new URLSearchParams({ a: '1 & 2', b: 'é' }) }),
  },
  { kind: 'FormData', sentOnce: false, create: () => ({ kind: 'FormData', value: filledForm() }) },
  {
    kind: 'Buffer',
    sentOnce: false,
    create: () => ({ kind: 'Buffer', value: Buffer.from([0, 255, 13, 10, 7]) }),
  },
  {
    kind: 'Node stream',
    sentOnce: true,
    create: () => ({ kind: 'Node stream', value: Readable.from(chunks()) }),
  },
  {
    kind: 'web stream',
    sentOnce: true,
    create: () => ({ kind: 'web stream', value: Readable.toWeb(Readable.from(chunks())) as never }),
  },
  {
    kind: 'form-data package',
    sentOnce: true,
    create: () => {
      const value = new FormDataPackage()
      value.append('field', 'value')
      value.append('file', Buffer.from('content of a file'), { filename: 'a.txt', contentType: 'text/plain' })
      return { kind: 'form-data package', value }
    },
  },
]

function filledForm(): FormData {
  const form = new FormData()
  form.append('field', 'välue')
  form.append('file', new Blob(['content of a file'], { type: 'text/plain' }), 'a.txt')
  return form
}

function chunks(): Buffer[] {
  return ['one, ', 'two, ', 'three'].map((text) => Buffer.from(text))
}
