// Logs in with a passkey, and adds one. Their forms stay hidden in browsers without passkeys.

const isSupported =
  'PublicKeyCredential' in globalThis && 'parseCreationOptionsFromJSON' in PublicKeyCredential

for (const form of isSupported ? document.querySelectorAll('form[data-passkey]') : []) {
  form.dataset.ready = ''
  const { name } = form.elements
  const platform = navigator.userAgentData?.platform
  if (name && platform) name.value ||= `Passkey on ${platform}`
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send(form)
  })
}

async function send(form) {
  const button = form.querySelector('button')
  const problem = form.querySelector('[role="alert"]')
  if (button.ariaDisabled === 'true') return
  button.ariaDisabled = 'true'
  problem.textContent = ''
  try {
    const { csrf_token, credential } = form.elements
    const response = await fetch(form.dataset.passkey, {
      method: 'POST',
      body: new URLSearchParams({ csrf_token: csrf_token.value }),
      cache: 'no-store',
      redirect: 'manual',
    })
    // The session is over, or the page is too old: the browser itself is led to the log-in page.
    if (!response.ok) return location.reload()
    credential.value = JSON.stringify(await use(await response.json()))
    form.submit()
  } catch (error) {
    problem.textContent =
      error.name === 'InvalidStateError'
        ? 'This device already has a passkey for your account.'
        : 'No passkey was used. Try again.'
  } finally {
    button.ariaDisabled = null
  }
}

function use(options) {
  return options.user
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
}
