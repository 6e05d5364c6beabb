import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Rows farther than this from the visible part are not drawn (a CSS length). */
const nearMargin = '1000px'

/**
 * A part of a long table's rows: drawn while it is near, else empty room of the same height. We measure the height,
 * since a row has more lines on a phone.
 *
 * @param isFirst true: always drawn, since it sets the widths of the columns and holds new rows
 */
export const Rows = ({
  isFirst,
  columns,
  children,
}: {
  readonly isFirst: boolean
  readonly columns: number
  /** Called only while they are drawn. */
  readonly children: () => ComponentChildren
}) => {
  const body = useRef<HTMLTableSectionElement>(null)
  const [room, setRoom] = useState<number>()
  useEffect(() => {
    const own = body.current
    if (own === null || isFirst) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry === undefined) return
        // A keyboard user inside it must not lose the focus.
        const isFar = !entry.isIntersecting && !own.contains(document.activeElement)
        setRoom(isFar ? own.getBoundingClientRect().height : undefined)
      },
      { rootMargin: nearMargin },
    )
    observer.observe(own)
    return () => observer.disconnect()
  }, [isFirst])
  return (
    <tbody ref={body}>
      {room === undefined ? (
        children()
      ) : (
        <tr class="room" style={{ height: `${room}px` }}>
          <td colSpan={columns} />
        </tr>
      )}
    </tbody>
  )
}
