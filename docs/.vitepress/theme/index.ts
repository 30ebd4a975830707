import 'virtual:group-icons.css'
import { onContentUpdated, type Theme } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { defineComponent, h, nextTick, onMounted } from 'vue'
import SiteFooter from './SiteFooter.vue'
import { completeSearchMarkup } from './search.ts'
import './design/design.css'
import './style.css'
import { followChoices, showChosenTabs } from './sync-tabs.ts'

export default {
  extends: theme,
  Layout: defineComponent(() => {
    onMounted(() => {
      addLandmark()
      completeSearchMarkup()
    })
    onContentUpdated(() => {
      showChosenTabs()
      addLandmark()
      void nextTick(showEntry)
    })
    return () => h(theme.Layout, null, { 'doc-footer-before': () => h(SiteFooter) })
  }),
  enhanceApp: followChoices,
} satisfies Theme

/** The page's entry may be below what the sidebar shows. */
function showEntry(): void {
  const entry = document.querySelector('.VPSidebar [aria-current=page]')
  const sidebar = entry?.closest('.VPSidebar')
  if (!entry || !sidebar) return
  const { top, bottom } = sidebar.getBoundingClientRect()
  const place = entry.getBoundingClientRect()
  if (place.top < top || place.bottom > bottom) sidebar.scrollTop += place.top - (top + bottom) / 2
}

/** The theme's home page and its page for missing pages have none. */
function addLandmark(): void {
  document.querySelector('.VPHome, .NotFound')?.setAttribute('role', 'main')
}
