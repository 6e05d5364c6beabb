import { CodecError } from '#codecs/bytes'
import type { XmlDocument } from '#codecs/xml'
import { childrenOf, demandText, nodeAt, textAt } from './markup.ts'

/** A page of a list of the directory. */
export type DirectoryPage<T> = {
  readonly items: readonly T[]
  /** Ids of unreadable items, empty for an item without one; an unreadable item does not stop the others. */
  readonly unreadable: readonly string[]
  readonly hasMore: boolean
  /** The cursor of a list that has cursors. */
  readonly cursor: string | undefined
}

const idForm = /^[0-9A-Za-z-]{1,36}$/
const cursorForm = /^[!-~]{1,500}$/

/**
 * @param names of the list below the root, and of its items: `Refunds`, `Refund`
 * @throws CodecError `dict_document` if the page itself cannot be read
 */
export const readPage = <T>(
  document: XmlDocument,
  { list, item }: { readonly list: string; readonly item: string },
  read: (document: XmlDocument, node: number) => T,
): DirectoryPage<T> => {
  const { root } = document
  const at = nodeAt(document, root, list)
  const nodes = at === undefined ? [] : childrenOf(document, at, item)
  const items: T[] = []
  const unreadable: string[] = []
  for (const node of nodes) {
    try {
      items.push(read(document, node))
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      const id = textAt(document, node, 'Id') ?? ''
      unreadable.push(idForm.test(id) ? id : '')
    }
  }
  return {
    items,
    unreadable,
    hasMore: demandText(document, root, 'HasMoreElements', /^(?:true|false)$/) === 'true',
    cursor:
      textAt(document, root, 'NextCursor') === undefined
        ? undefined
        : demandText(document, root, 'NextCursor', cursorForm),
  }
}
