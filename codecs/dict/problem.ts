import { absent, type XmlDocument } from '#codecs/xml'
import { type Element, textAt } from './markup.ts'

// RFC 7807 in XML, as the directory answers errors.

const typeForm = /\/error\/([A-Za-z]{1,64})$/
const statusForm = /^[1-5]\d\d$/

/** The part of an answer that a participant may learn: the details may quote personal data, so we leave them out. */
export type DirectoryProblem = {
  /** For example `NotFound`; empty if the problem names none. */
  readonly code: string
  /** Undefined if the problem tells none. */
  readonly status: number | undefined
}

export const readProblem = (document: XmlDocument): DirectoryProblem => {
  const { root } = document
  if (root === absent || document.localName(root) !== 'problem') {
    return { code: '', status: undefined }
  }
  const status = textAt(document, root, 'status') ?? ''
  return {
    code: typeForm.exec(textAt(document, root, 'type') ?? '')?.[1] ?? '',
    status: statusForm.test(status) ? Number(status) : undefined,
  }
}

/** @param base - of the type's address: `https://dict.pi.rsfn.net.br/api/v2` */
export const problemElement = (
  base: string,
  {
    code,
    title,
    status,
    detail,
  }: {
    readonly code: string
    readonly title: string
    readonly status: number
    readonly detail?: string | undefined
  },
): Element => [
  'problem',
  [
    ['type', `${base}/error/${code}`],
    ['title', title],
    ['status', String(status)],
    ['detail', detail],
  ],
]
