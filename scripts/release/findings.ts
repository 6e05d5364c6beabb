import type { ReleasedPackage } from './packages.ts'

/** SPDX expressions of licences that let us pass a package on as a part of ours, with its text beside it. */
const licencesTaken: ReadonlySet<string> = new Set([
  '(BSD-3-Clause OR GPL-2.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'OFL-1.1',
  'Unlicense',
])

/** Packages that report installations or uses to their makers. */
const tellsOthers =
  /^(@scarf\/|@sentry\/|posthog|@segment\/|@datadog\/|applicationinsights|mixpanel)/

/** The objections to packages, one line each. */
export const dependencyFindings = (
  packages: readonly Pick<ReleasedPackage, 'name' | 'version' | 'license'>[],
): string[] =>
  packages.flatMap(({ name, version, license }) => [
    ...(licencesTaken.has(license) ? [] : [`${name} ${version}: licence ${license}`]),
    ...(tellsOthers.test(name) ? [`${name} ${version}: telemetry`] : []),
  ])
