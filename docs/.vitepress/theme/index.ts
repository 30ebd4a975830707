import 'virtual:group-icons.css'
import { onContentUpdated, type Theme } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { defineComponent, h } from 'vue'
import SiteFooter from './SiteFooter.vue'
import './style.css'
import { followChoices, showChosenTabs } from './sync-tabs.ts'

export default {
  extends: theme,
  Layout: defineComponent(() => {
    onContentUpdated(() => {
      showChosenTabs()
      // The home page of the theme has no landmark.
      document.querySelector('.VPHome')?.setAttribute('role', 'main')
    })
    return () => h(theme.Layout, null, { 'doc-footer-before': () => h(SiteFooter) })
  }),
  enhanceApp: followChoices,
} satisfies Theme
