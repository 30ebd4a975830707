// Shows the API reference, and fills the latest token into requests that are about a token.

const element = document.getElementById('reference')
const content = JSON.parse(element.dataset.description)
let accessToken

// Not part of the page's own scripts, so that the page can be used before this has loaded.
await import(element.dataset.scalar)
document.getElementById('outline').remove()
Scalar.createApiReference(element, {
  content,
  customFetch: send,
  layout: 'modern',
  theme: 'none',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  hideDarkModeToggle: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'yaml',
  hiddenClients: true,
  persistAuth: false,
  defaultOpenAllTags: true,
  hideModels: true,
})

/** Sends a request without the portal's cookies. */
async function send(input, init) {
  const request = new Request(input, { ...init, credentials: 'omit', cache: 'no-store', redirect: 'error' })
  const form = new URLSearchParams(await request.clone().text())
  if (accessToken !== undefined && form.get('token') === '{{access_token}}') form.set('token', accessToken)
  const response = await fetch(new Request(request, { method: request.method, body: form }))
  const body = await response
    .clone()
    .json()
    .catch(() => undefined)
  if (response.ok && typeof body?.access_token === 'string') accessToken = body.access_token
  return response
}

/** What screen readers and the keyboard miss in Scalar. */
function completeMarkup() {
  for (const button of document.querySelectorAll('button[class*="copy-button"]:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy')
  }
  // Their labels are equal, and not those that they mean.
  for (const card of document.querySelectorAll('.response-card')) card.removeAttribute('aria-labelledby')
  const names = new Map()
  for (const region of document.querySelectorAll('[role="region"][aria-label]')) {
    region.dataset.label ??= region.getAttribute('aria-label')
    const { label } = region.dataset
    const count = (names.get(label) ?? 0) + 1
    names.set(label, count)
    if (count > 1) region.setAttribute('aria-label', `${label} ${count}`)
  }
  for (const list of document.querySelectorAll('.endpoints:not([tabindex])')) list.tabIndex = 0
}

new MutationObserver(completeMarkup).observe(document.body, { childList: true, subtree: true })
