// Waits for the first token request, and shows the last step as done then. Without it, a link checks again.

const pauseMs = 2000

async function check() {
  if (document.visibilityState === 'visible') {
    const response = await fetch(document.body.querySelector('[data-check]').href, { cache: 'no-store' })
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
    const done = fresh.querySelector('.steps > li:last-child.done')
    if (done) return showDone(fresh, done)
  }
  setTimeout(repeat, pauseMs)
}

// The snippets stay: they may contain the secret, which the service does not know any more.
function showDone(fresh, done) {
  const step = document.querySelector('.steps > li:last-child')
  step.className = done.className
  step.removeAttribute('aria-current')
  step.querySelector('h2').replaceWith(document.importNode(done.querySelector('h2'), true))
  for (const shown of document.querySelectorAll('[data-progress]')) {
    const part = fresh.querySelector(`[data-progress="${shown.dataset.progress}"]`)
    shown.replaceWith(document.importNode(part, true))
  }
  document.getElementById('status').textContent = done.querySelector('[data-progress]').textContent
}

function repeat() {
  check().catch(() => setTimeout(repeat, pauseMs))
}

if (document.querySelector('[data-check]')) setTimeout(repeat, pauseMs)
