import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { full, type GroupResult, runGroup, type Suite, smoke, writeReport } from './harness.ts'
import { xmlSuite } from './suites/xml.ts'

const suites: readonly Suite[] = [xmlSuite]

const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
  },
})

const mode = values.smoke ? smoke : full
const results: GroupResult[] = []
for (const suite of suites) {
  if (values.only !== undefined && !values.only.includes(suite.name)) continue
  for (const group of await suite.groups()) {
    console.error(`${suite.name}: ${group.name}`)
    results.push(await runGroup(suite.name, group, mode))
  }
}
console.log(writeReport(results, join(import.meta.dir, 'out'), values.smoke ? 'smoke' : 'full'))
