// Waits for the first token request, and shows the last step as done then. Without it, a link checks again.

const pauseMs = 2000
const shownSteps = () => document.querySelectorAll('.steps > li')

async function check() {
  if (document.visibilityState === 'visible') {
    const response = await fetch(document.body.querySelector('[data-check]').href, { cache: 'no-store' })
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
    const last = fresh.querySelector('.steps > li:last-child.done')
    if (last) {
      ;[...shownSteps()].at(-1).replaceWith(document.importNode(last, true))
      document.getElementById('status').textContent = last.querySelector('p').textContent
      return
    }
  }
  setTimeout(repeat, pauseMs)
}

function repeat() {
  check().catch(() => setTimeout(repeat, pauseMs))
}

if (document.querySelector('[data-check]')) setTimeout(repeat, pauseMs)
