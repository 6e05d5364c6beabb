import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { dependencyFindings } from './release/findings.ts'
import { releasedPackages } from './release/packages.ts'

// Refuses packages of the production set whose licence a release may not carry, or that tell others that they were
// installed or run. Packages of other platforms are not installed here: a check there judges them.

const root = join(import.meta.dirname, '..')
const packages = releasedPackages(root, { os: process.platform, cpu: process.arch }).filter(
  ({ name }) => existsSync(join(root, 'node_modules', name)),
)
const findings = dependencyFindings(packages)
if (packages.length === 0) findings.push('no packages: run bun install')
if (findings.length > 0) {
  console.error(`dependencies that may not be in a release:\n${findings.join('\n')}`)
  process.exit(1)
}
