/** Whether a request body can be sent a second time: a stream or an iterator is spent by the first. For authors of adapters. */
export function isRepeatableBody(body: unknown): boolean {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    ArrayBuffer.isView(body) ||
    [ArrayBuffer, URLSearchParams, Blob, FormData].some((type) => body instanceof type)
  )
}
