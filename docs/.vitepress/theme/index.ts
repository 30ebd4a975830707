import 'virtual:group-icons.css'
import { onContentUpdated, type Theme } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { defineComponent, h, onMounted } from 'vue'
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
      // The page's entry may be below what the sidebar shows.
      document.querySelector('.VPSidebar .is-link.is-active')?.scrollIntoView({ block: 'nearest' })
    })
    return () => h(theme.Layout, null, { 'doc-footer-before': () => h(SiteFooter) })
  }),
  enhanceApp: followChoices,
} satisfies Theme

/** The theme's home page and its page for missing pages have none. */
function addLandmark(): void {
  document.querySelector('.VPHome, .NotFound')?.setAttribute('role', 'main')
}
