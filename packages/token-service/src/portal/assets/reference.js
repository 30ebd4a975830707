// Loads Scalar when somebody is about to use a control, and fills the latest token into requests that are about a token.

const status = document.getElementById('status')
const dark = matchMedia('(prefers-color-scheme: dark)')
const controls = 'button, input, a:not([href])'
const controlsOf = (element) => [...element.querySelectorAll(controls)]
/** What the build has rendered: it looks as Scalar does. */
const rendered = document.getElementById('reference')
let loading
let pressed
let accessToken

followColourScheme()
dark.addEventListener('change', followColourScheme)
new MutationObserver(completeMarkup).observe(document.body, { childList: true, subtree: true })
completeMarkup()
if (document.readyState === 'complete') show()
else addEventListener('load', show)
for (const type of ['pointerover', 'focusin', 'click']) rendered.addEventListener(type, prepare)
addEventListener('keydown', (event) => {
  if (!rendered.isConnected || event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  // The search.
  rendered.querySelector(controls).click()
})

function show() {
  requestAnimationFrame(() => {
    // Chromium may have scrolled to the place that the address names before it applied all styles.
    document.querySelector(':target')?.scrollIntoView()
    rendered.classList.add('shown')
  })
}

function prepare(event) {
  const control = event.target.closest(controls)
  if (!control) return
  if (event.type === 'click') {
    event.preventDefault()
    pressed = control
    rendered.ariaBusy = 'true'
    status.textContent = 'Loading…'
  }
  loading ??= load()
}

/** Replaces the rendered page with Scalar, then uses the control that was pressed. */
async function load() {
  await Promise.all([import(rendered.dataset.scalar), loadStyles()])
  const live = document.createElement('div')
  live.inert = true
  rendered.after(live)
  Scalar.createApiReference(live, { ...JSON.parse(rendered.dataset.configuration), customFetch: send })
  const { length } = controlsOf(rendered)
  for (const began = performance.now(); performance.now() - began < 20_000;) {
    await new Promise(requestAnimationFrame)
    if (controlsOf(live).length >= length) break
  }
  const position = (control) => controlsOf(rendered).indexOf(control)
  const [focused, toPress] = [document.activeElement, pressed].map(position)
  live.inert = false
  rendered.remove()
  status.textContent = ''
  const now = controlsOf(live)
  now[focused]?.focus()
  now[toPress]?.click()
}

/** All of Scalar's styles, instead of those that the rendered page needs. */
async function loadStyles() {
  const needed = document.querySelector('link[href*="scalar-rendered.css"]')
  const all = Object.assign(needed.cloneNode(), { href: rendered.dataset.styles })
  await new Promise((resolve, reject) => {
    all.addEventListener('load', resolve)
    all.addEventListener('error', reject)
    needed.after(all)
  })
  needed.remove()
}

function followColourScheme() {
  document.body.classList.toggle('dark-mode', dark.matches)
  document.body.classList.toggle('light-mode', !dark.matches)
}

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
