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
      // The theme gives its home page no landmark.
      document.querySelector('.VPHome')?.setAttribute('role', 'main')
    })
    return () => h(theme.Layout, null, { 'doc-footer-before': () => h(SiteFooter) })
  }),
  enhanceApp: followChoices,
} satisfies Theme
