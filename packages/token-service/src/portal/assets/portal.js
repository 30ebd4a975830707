// Reveals the copy buttons: they need this script. Everything else works without it.

const status = document.getElementById('status')

if (navigator.clipboard) {
  for (const button of document.querySelectorAll('button[data-copy]')) {
    button.dataset.ready = ''
    button.addEventListener('click', () => void copy(button))
  }
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy)
  try {
    await navigator.clipboard.writeText(source.textContent.trim())
    showLabel(button, 'Copied')
  } catch {
    getSelection().selectAllChildren(source)
    showLabel(button, 'Copy failed')
  }
}

function showLabel(button, text) {
  const label = button.firstChild
  button.dataset.label ??= label.data
  label.data = text
  status.textContent = text
  setTimeout(() => {
    label.data = button.dataset.label
    status.textContent = ''
  }, 2000)
}
