/** Whether a body can be sent a second time: a stream is spent by the first. */
export function isRepeatable(body: unknown): boolean {
  return (
    body === undefined ||
    body === null ||
    typeof body === 'string' ||
    ArrayBuffer.isView(body) ||
    [ArrayBuffer, URLSearchParams, Blob, FormData].some((type) => body instanceof type)
  )
}
