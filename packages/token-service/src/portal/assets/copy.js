// Copy buttons: shown where copying can work, since without this script they would do nothing.

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
    say(label, 'Copied')
  } catch {
    getSelection().selectAllChildren(source)
    say(label, 'Press Ctrl+C')
  }
}

function say(label, words) {
  const original = label.parentElement.dataset.label ?? label.data
  label.parentElement.dataset.label = original
  label.data = words
  status.textContent = words
  setTimeout(() => {
    label.data = original
    status.textContent = ''
  }, 2000)
}
