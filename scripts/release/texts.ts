import type { ReleasedPackage } from './packages.ts'

export type Origin = {
  readonly version: string
  /** Full hash; with `+changes` when the work tree differs from it. */
  readonly commit: string
  /** Time of the commit, so that a release made tomorrow has the same bytes. */
  readonly at: Date
  /** The version of Bun that builds the release and is inside it. */
  readonly bun: string
}

const purlOf = ({ name, version }: ReleasedPackage): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`

/** Bill of materials in CycloneDX 1.6, JSON. */
export const billOfMaterials = (origin: Origin, packages: readonly ReleasedPackage[]): string => {
  const bun = {
    type: 'platform',
    name: 'bun',
    version: origin.bun,
    purl: `pkg:npm/bun@${origin.bun}`,
  }
  const components = packages.map((one) => ({
    type: 'library',
    'bom-ref': purlOf(one),
    name: one.name,
    version: one.version,
    purl: purlOf(one),
    hashes: [{ alg: 'SHA-512', content: Buffer.from(one.sha512, 'base64').toString('hex') }],
    licenses: one.license === 'UNKNOWN' ? [] : [{ expression: one.license }],
  }))
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: origin.at.toISOString(),
      component: {
        type: 'application',
        'bom-ref': 'trilho',
        name: 'trilho',
        version: origin.version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [bun, ...components],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The licences of everything in the release: a list, then each text once. */
export const thirdPartyNotices = (packages: readonly ReleasedPackage[]): string => {
  const list = packages.map(({ name, version, license }) => `${name} ${version}: ${license}`)
  const texts = Map.groupBy(
    packages.flatMap(({ name, notices }) => notices.map((text) => ({ name, text }))),
    ({ text }) => text,
  )
  const sections = [...texts].map(([text, users]) => {
    const names = [...new Set(users.map(({ name }) => name))].join(', ')
    return `${'-'.repeat(80)}\n${names}\n\n${text}\n`
  })
  return `This software holds or installs the following packages.\n\n${list.join('\n')}\n\n${sections.join('\n')}`
}

/** A commit of the history. */
export type Change = { readonly hash: string; readonly subject: string }

const headings: Readonly<Record<string, string>> = {
  feat: 'Added',
  fix: 'Mended',
  perf: 'Faster',
}

/** The changes that users notice, by kind, newest first; a subject is `type(scope): what`. */
export const changelog = ({ version, at }: Origin, changes: readonly Change[]): string => {
  const sections = Object.entries(headings).flatMap(([type, heading]) => {
    const lines = changes.flatMap(({ hash, subject }) => {
      const [, found, scope = '', what] = /^(\w+)(?:\(([^)]*)\))?!?: (.+)$/.exec(subject) ?? []
      if (found !== type || what === undefined) return []
      return [`- ${scope === '' ? '' : `**${scope}**: `}${what} (${hash})`]
    })
    return lines.length === 0 ? [] : [`### ${heading}\n\n${lines.join('\n')}\n`]
  })
  return `# Changes\n\n## ${version} (${at.toISOString().slice(0, 10)})\n\n${sections.join('\n')}`
}

/** How to make the same bytes again. */
export const provenance = ({ version, commit, bun, at }: Origin): string =>
  `trilho ${version}
commit  ${commit}
time    ${at.toISOString()}
bun     ${bun}

Every file of this release comes from that commit and the packages that its bun.lock names by hash.
To make the same bytes again, in a clone at that commit, on Linux x64:

  npx -y bun@${bun} install --frozen-lockfile
  npx bun run release
  sha256sum -c SHA256SUMS

`
