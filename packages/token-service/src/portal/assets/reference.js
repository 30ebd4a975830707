// Sends the requests of the API reference, and shows their responses beside their forms.

const status = document.getElementById('status')

for (const form of document.querySelectorAll('form[data-try]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(form)
  })
}

async function send(form) {
  const button = form.querySelector('button')
  const output = outputOf(form)
  if (button.ariaDisabled === 'true') return
  button.ariaDisabled = 'true'
  const began = performance.now()
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body: new URLSearchParams(new FormData(form)),
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
    })
    const text = await response.text()
    show(form, { response, text, ms: Math.round(performance.now() - began) })
  } catch {
    output.replaceChildren(element('p', { className: 'error' }, 'The service did not respond. Try again.'))
  } finally {
    button.ariaDisabled = null
  }
  output.hidden = false
}

function show(form, { response, text, ms }) {
  const body = parsed(text)
  const name = form.querySelector('button').textContent
  const badge = element('span', { className: 'status' }, `${response.status} ${response.statusText}`.trim())
  badge.dataset.variant = response.ok ? 'success' : 'danger'
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const parts = [
    element('p', {}, badge, element('span', { className: 'hint' }, ` ${ms} ms`)),
    region(`Response to ${name}`, body === undefined ? text || '(empty)' : JSON.stringify(body, null, 2)),
    element(
      'details',
      {},
      element('summary', {}, 'Headers'),
      region(`Headers of the response to ${name}`, headers),
    ),
  ]
  const token = response.ok ? body?.access_token : undefined
  if (typeof token === 'string') parts.splice(1, 0, useToken(token))
  outputOf(form).replaceChildren(...parts)
}

function outputOf(form) {
  return document.querySelector(`[data-response="${form.dataset.try}"]`)
}

function useToken(token) {
  const button = element(
    'button',
    { type: 'button', className: 'outline small' },
    'Use this token in Introspect',
  )
  button.addEventListener('click', () => {
    const fields = document.querySelectorAll('form[data-try] input[name="token"]')
    for (const field of fields) field.value = token
    const form = fields[0].form
    form.scrollIntoView({ block: 'center' })
    form.querySelector('button').focus()
    status.textContent = 'The token was filled in.'
  })
  return element('p', {}, button)
}

function region(label, text) {
  const pre = element('pre', { tabIndex: 0, role: 'region', ariaLabel: label }, element('code', {}, text))
  return pre
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function element(name, properties, ...children) {
  const created = Object.assign(document.createElement(name), properties)
  created.append(...children)
  return created
}
