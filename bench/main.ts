import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type FigureResult,
  full,
  type GroupResult,
  runGroup,
  type Suite,
  smoke,
  writeReport,
} from './harness.ts'
import { drexSuite } from './suites/drex.ts'
import { httpSuite } from './suites/http.ts'
import { startupSuite } from './suites/startup.ts'
import { xmlSuite } from './suites/xml.ts'
import { xmldsigSuite } from './suites/xmldsig.ts'

const suites: readonly Suite[] = [xmlSuite, xmldsigSuite, httpSuite, startupSuite, drexSuite]

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})

const mode = values.smoke ? smoke : full
const results: GroupResult[] = []
const figures: FigureResult[] = []
for (const suite of suites) {
  if (values.only !== undefined && !values.only.includes(suite.name)) continue
  for (const group of await suite.groups()) {
    console.error(`${suite.name}: ${group.name}`)
    results.push(await runGroup(suite.name, group, mode))
  }
  for (const figure of (await suite.figures?.(mode)) ?? []) {
    figures.push({ ...figure, suite: suite.name, reached: figure.value <= figure.atMost })
  }
}
console.log(
  writeReport(results, figures, join(import.meta.dir, 'out'), values.smoke ? 'smoke' : 'full'),
)
