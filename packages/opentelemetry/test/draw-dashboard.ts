import { init, type EChartsOption } from 'echarts'
import type { Series } from './prometheus.ts'

/** A panel with the series of each of its queries. */
export interface PanelData {
  readonly title: string
  readonly unit: string
  readonly targets: readonly { readonly legend: string; readonly series: readonly Series[] }[]
}

const [width, panelHeight] = [1_600, 300]

/** Draws panels in two columns with the same time axis, as an SVG document. */
export function drawDashboard(
  panels: readonly PanelData[],
  startSeconds: number,
  endSeconds: number,
): string {
  const height = Math.ceil(panels.length / 2) * panelHeight
  const chart = init(null, undefined, { renderer: 'svg', ssr: true, width, height })
  const place = (index: number) => ({
    left: (index % 2) * (width / 2),
    top: Math.floor(index / 2) * panelHeight,
  })
  const options: EChartsOption = {
    animation: false,
    backgroundColor: '#fff',
    title: panels.map(({ title, unit }, index) => ({
      text: unit ? `${title} (${unit})` : title,
      textStyle: { fontSize: 14 },
      left: place(index).left + 20,
      top: place(index).top + 6,
    })),
    legend: panels.map(({ targets }, index) => ({
      data: targets.flatMap(({ legend, series }) =>
        series.map(({ metric }) => nameOf(index, legend, metric)),
      ),
      formatter: (name: string) => name.replace(/^\d+ /, ''),
      left: place(index).left + 20,
      top: place(index).top + 28,
      width: width / 2 - 40,
      itemWidth: 14,
      itemHeight: 8,
      itemGap: 24,
      textStyle: { fontSize: 11 },
    })),
    grid: panels.map((_, index) => ({
      left: place(index).left + 60,
      top: place(index).top + 78,
      width: width / 2 - 90,
      height: panelHeight - 110,
    })),
    xAxis: panels.map((_, gridIndex) => ({
      type: 'time',
      gridIndex,
      min: startSeconds * 1_000,
      max: endSeconds * 1_000,
    })),
    yAxis: panels.map((_, gridIndex) => ({ type: 'value', gridIndex })),
    series: panels.flatMap(({ targets }, index) =>
      targets.flatMap(({ legend, series }) =>
        series.map(({ metric, values }) => ({
          type: 'line' as const,
          name: nameOf(index, legend, metric),
          xAxisIndex: index,
          yAxisIndex: index,
          showSymbol: false,
          data: values.map(([seconds, value]) => [seconds * 1_000, Number(value)]),
        })),
      ),
    ),
  }
  chart.setOption(options)
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

/** Legends of several panels may be the same: the panel's number comes first. */
function nameOf(panel: number, legend: string, metric: Series['metric']): string {
  return `${panel} ${legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')}`
}
