// Reveals the copy buttons: they need this script.

const status = document.getElementById('status')

if (navigator.clipboard) {
  for (const button of document.querySelectorAll('button[data-copy]')) {
    button.hidden = false
    button.addEventListener('click', () => void copy(button))
  }
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy)
  const label = button.firstChild
  try {
    await navigator.clipboard.writeText(source.textContent.trim())
    showLabel(label, 'Copied')
  } catch {
    getSelection().selectAllChildren(source)
    showLabel(label, 'Press Ctrl+C')
  }
}

function showLabel(label, text) {
  const original = label.parentElement.dataset.label ?? label.data
  label.parentElement.dataset.label = original
  label.data = text
  status.textContent = text
  setTimeout(() => {
    label.data = original
    status.textContent = ''
  }, 2000)
}
