// Sends the forms of the reference and shows the responses below them. Without this script they are plain forms,
// and the browser shows the response as a page.

const masked = ['access_token', 'refresh_token']
const status = document.getElementById('status')

for (const form of document.querySelectorAll('form[data-operation]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(form)
  })
}

async function send(form) {
  const output = document.querySelector(`[data-response="${form.dataset.operation}"]`)
  const button = form.querySelector('button')
  button.disabled = true
  const before = performance.now()
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body: new URLSearchParams(new FormData(form)),
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
    })
    const text = await response.text()
    const line = `${response.status} ${response.statusText} after ${Math.round(performance.now() - before)} ms`
    show(output, line, text)
    offerToken(form, response.ok, text)
  } catch {
    show(output, 'No response: the connection failed or was closed.', '')
  } finally {
    button.disabled = false
    output.hidden = false
    output.focus()
  }
}

function show(output, line, text) {
  const title = createElement('p', 'row-title', line)
  status.textContent = line
  let body
  try {
    body = JSON.parse(text)
  } catch {
    output.replaceChildren(
      title,
      text === '' ? createElement('p', 'hint', 'The response has no body.') : createElement('pre', '', text),
    )
    return
  }
  const secret = masked.map((name) => body?.[name]).find((value) => typeof value === 'string' && value !== '')
  const shown = createElement('pre', '', '')
  shown.tabIndex = 0
  const render = (revealed) => {
    const hide = (name, value) =>
      !revealed && value === secret && masked.includes(name) ? '•'.repeat(12) : value
    shown.textContent = JSON.stringify(body, secret === undefined ? undefined : hide, 2)
  }
  render(false)
  output.replaceChildren(title, shown)
  if (secret !== undefined) output.append(tokenButtons(secret, render))
}

function tokenButtons(token, render) {
  const reveal = createElement('button', 'quiet', 'Show token')
  reveal.type = 'button'
  reveal.setAttribute('aria-pressed', 'false')
  reveal.addEventListener('click', () => {
    const revealed = reveal.getAttribute('aria-pressed') !== 'true'
    reveal.setAttribute('aria-pressed', String(revealed))
    render(revealed)
  })
  const buttons = createElement('p', 'buttons', '')
  buttons.append(reveal)
  if (!navigator.clipboard) return buttons
  const copy = createElement('button', 'quiet', 'Copy token')
  copy.type = 'button'
  copy.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(token).then(
      () => true,
      () => false,
    )
    copy.textContent = copied ? 'Copied' : 'The browser does not allow copying'
    status.textContent = copy.textContent
    setTimeout(() => (copy.textContent = 'Copy token'), 2000)
  })
  buttons.append(copy)
  return buttons
}

/** Fills the new token, and its client's credentials, into the other forms. */
function offerToken(form, ok, text) {
  if (!ok || form.dataset.operation !== 'getAccessToken') return
  const { access_token: token } = JSON.parse(text)
  const credentials = new FormData(form)
  for (const other of document.querySelectorAll('form[data-operation]')) {
    if (other.elements.token) other.elements.token.value = token
    if (other.dataset.operation !== 'revokeToken') continue
    for (const name of ['client_id', 'client_secret']) other.elements[name].value = credentials.get(name)
  }
}

function createElement(tag, className, text) {
  const element = document.createElement(tag)
  if (className !== '') element.className = className
  element.textContent = text
  return element
}
