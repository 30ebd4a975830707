import type { AcceptedPlugin } from 'postcss'

/**
 * Puts the styles of VitePress and of its plugins in a layer below those of the design: these need neither `!important`
 * nor more specific selectors than they have.
 */
export const layerTheme: AcceptedPlugin = {
  postcssPlugin: 'layer-theme',
  Once(root, { AtRule }) {
    const file = root.source?.input.file ?? ''
    if (!file.includes('/node_modules/') && !file.includes('virtual:')) return
    const charset = root.nodes.filter((node) => node.type === 'atrule' && node.name === 'charset')
    for (const node of charset) node.remove()
    const layer = new AtRule({ name: 'layer', params: 'theme', nodes: root.nodes })
    root.removeAll()
    root.append(layer)
  },
}
