/** Which message versions belong to which revision of the SPI's catalogue, as far as is known. */

export const revisions = ['5.08.1', '5.09.2', '5.10.1', '5.11.1'] as const

export type Revision = (typeof revisions)[number]

export const isRevision = (text: string): text is Revision => revisions.some((r) => r === text)

/**
 * How sure a version is: seen in a published schema or message of that time; concluded from versions seen
 * before and after; or only the nearest version known.
 */
export type Certainty = 'confirmed' | 'inferred' | 'weak'

export type VersionEntry = { readonly version: string; readonly certainty: Certainty }

const confirmed = (version: string): VersionEntry => ({ version, certainty: 'confirmed' })
const inferred = (version: string): VersionEntry => ({ version, certainty: 'inferred' })
const weak = (version: string): VersionEntry => ({ version, certainty: 'weak' })

/** The same version in all revisions, by certainty from the oldest revision to the newest. */
const steady = (version: string): Readonly<Record<Revision, VersionEntry>> => ({
  '5.08.1': weak(version),
  '5.09.2': weak(version),
  '5.10.1': inferred(version),
  '5.11.1': inferred(version),
})

/** Known to have changed later; the oldest version known stands for the ones before it. */
const oldestKnown = (version: string): Readonly<Record<Revision, VersionEntry>> => ({
  '5.08.1': weak(version),
  '5.09.2': weak(version),
  '5.10.1': weak(version),
  '5.11.1': weak(version),
})

/** Seen in use in the months of 5.10.1, and unchanged in the catalogues after it. */
const seenAt510 = (version: string): Readonly<Record<Revision, VersionEntry>> => ({
  ...steady(version),
  '5.10.1': confirmed(version),
})

/** Type → revision → version. pacs.008 and pacs.002 move by one step per revision. */
export const revisionTable = {
  'pacs.008': {
    '5.08.1': weak('1.11'),
    '5.09.2': weak('1.12'),
    '5.10.1': inferred('1.13'),
    '5.11.1': inferred('1.14'),
  },
  'pacs.002': {
    '5.08.1': weak('1.12'),
    '5.09.2': weak('1.13'),
    '5.10.1': inferred('1.14'),
    '5.11.1': inferred('1.15'),
  },
  'pacs.004': { ...seenAt510('1.5'), '5.11.1': confirmed('1.5') },
  'pain.009': steady('1.1'),
  'pain.011': steady('1.3'),
  'pain.012': oldestKnown('1.3'),
  'pain.013': steady('2.2'),
  'pain.014': oldestKnown('2.3'),
  'camt.014': steady('1.6'),
  'camt.025': steady('1.0'),
  'camt.029': oldestKnown('1.1'),
  'camt.052': steady('1.3'),
  'camt.053': steady('1.4'),
  'camt.054': oldestKnown('1.15'),
  'camt.055': steady('1.1'),
  'camt.060': seenAt510('1.9'),
  'admi.002': steady('1.5'),
  'admi.004': steady('1.2'),
  'pibr.001': seenAt510('1.3'),
  'pibr.002': seenAt510('1.3'),
  'reda.014': steady('1.3'),
  'reda.016': steady('1.5'),
  'reda.017': steady('1.2'),
  'reda.022': steady('1.4'),
  'reda.031': steady('1.2'),
  'reda.041': steady('1.7'),
  'trck.002': steady('1.1'),
} as const satisfies Readonly<Record<string, Readonly<Record<Revision, VersionEntry>>>>

export type MessageType = keyof typeof revisionTable

export const messageTypes = Object.keys(revisionTable) as readonly MessageType[]

export const isMessageType = (text: string): text is MessageType =>
  Object.hasOwn(revisionTable, text)

/** The version in which a revision sends a type. */
export const versionOf = (type: MessageType, revision: Revision): VersionEntry =>
  revisionTable[type][revision]

/** The revisions to which a version belongs; empty for one newer than all. */
export const revisionsOf = (type: MessageType, version: string): readonly Revision[] =>
  revisions.filter((revision) => revisionTable[type][revision].version === version)
