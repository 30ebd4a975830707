import { mkdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import {
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  ExtractorMessageCategory,
  type IExtractorConfigPrepareOptions,
} from '@microsoft/api-extractor'
import { projectFolder, type PublicPackage } from '../public-packages.ts'

const { None: none, Warning: warning } = ExtractorLogLevel

/** Compares what a package exports with its reports in `etc/`, which are reviewed like code, or writes them again. */
export function checkApiReports({ folder, manifest }: PublicPackage, update = false): string[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([entry, target]) => {
    if (typeof target === 'string') return []
    const name = `${basename(folder)}${entry.slice(1).replaceAll('/', '.')}.api.md`
    const config = ExtractorConfig.prepare(settings(folder, join(folder, target.types.default), name))
    mkdirSync(join(folder, 'etc'), { recursive: true })
    const problems: string[] = []
    const { apiReportChanged } = Extractor.invoke(config, {
      localBuild: update,
      messageCallback(message) {
        if (message.category !== ExtractorMessageCategory.Console && message.logLevel === warning)
          problems.push(message.text)
        message.handled = true
      },
    })
    if (!apiReportChanged || update) return problems
    const report = relative(projectFolder, config.reportFilePath)
    return [
      ...problems,
      `${report} is not what ${entry} exports: run \`pnpm --dir tools/release run update\`, and review the difference`,
    ]
  })
}

function settings(folder: string, entryFile: string, reportFileName: string): IExtractorConfigPrepareOptions {
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: [],
    lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
  }
  return {
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, 'package.json'),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: entryFile,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files: [entryFile] } },
      apiReport: {
        enabled: true,
        reportFileName,
        includeForgottenExports: true,
        reportFolder: join(folder, 'etc'),
        reportTempFolder: join(folder, 'node_modules/.api'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: warning } },
        extractorMessageReporting: { default: { logLevel: none } },
        tsdocMessageReporting: { default: { logLevel: none } },
      },
    },
  }
}
