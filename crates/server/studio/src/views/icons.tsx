import type { ReactNode } from "react";

function icon(paths: ReactNode, size = 16) {
  return function Icon({ className }: { className?: string }) {
    return (
      <svg className={className ? `icon ${className}` : "icon"} width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
        {paths}
      </svg>
    );
  };
}

export const Plus = icon(<path d="M8 3v10M3 8h10" />);
export const Sun = icon(<><circle cx="8" cy="8" r="2.8" /><path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" /></>);
export const Moon = icon(<path d="M13.3 9.6A5.6 5.6 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9Z" />);
export const Screen = icon(<><rect x="2" y="3" width="12" height="8" rx="1.5" /><path d="M6 13.5h4" /></>);
export const Question = icon(<><circle cx="8" cy="8" r="6" /><path d="M6.4 6.2a1.7 1.7 0 1 1 2.4 1.7c-.5.2-.8.5-.8 1M8 11.1v.1" /></>);
export const Send = icon(<path d="M8 13V3M3.5 7.5 8 3l4.5 4.5" />);
export const Stop = icon(<rect x="4" y="4" width="8" height="8" rx="1.5" fill="currentColor" />);
export const Play = icon(<path d="M5 3.2v9.6L12.6 8 5 3.2Z" />);
export const Fork = icon(<><circle cx="4" cy="3.5" r="1.6" /><circle cx="4" cy="12.5" r="1.6" /><circle cx="12" cy="5.5" r="1.6" /><path d="M4 5.1v5.8M12 7.1c0 2.6-3 2.4-8 3" /></>);
export const Pencil = icon(<path d="m3 13 .6-2.6 7-7a1.4 1.4 0 0 1 2 2l-7 7L3 13Z" />);
export const Trash = icon(<path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v3.6M9.2 7v3.6" />);
export const Copy = icon(<><rect x="5.5" y="5.5" width="8" height="8" rx="1.5" /><path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.500 4v5A1.5 1.500 0 0 0 4 10.500h1.500" /></>);
export const Flask = icon(<path d="M6 2.500h4M6.800 2.500v4L3.200 12a1 1 0 0 0 .9 1.500h7.800a1 1 0 0 0 .9-1.500L9.200 6.500v-4M5 9.800h6" />);
export const Chevron = icon(<path d="m6 4 4 4-4 4" />);
export const Check = icon(<path d="m3.5 8.5 3 3 6-7" />);
export const Cross = icon(<path d="m4 4 8 8M12 4l-8 8" />);
export const Pause = icon(<path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.2" />);
export const Box = icon(<><rect x="2.5" y="2.5" width="11" height="11" rx="2" /><path d="M6 8h4M8 6v4" /></>);
export const Unbox = icon(<><rect x="2.5" y="2.5" width="11" height="11" rx="2" /><path d="M6 8h4" /></>);
export const Turn = icon(<><path d="M3 6.500a5.200 5.200 0 0 1 9.500-1.600L13 6M13 9.500a5.200 5.200 0 0 1-9.500 1.600L3 10" /><path d="M13 3v3h-3M3 13v-3h3" /></>);
export const Fit = icon(<path d="M2.500 6V3.500a1 1 0 0 1 1-1H6M10 2.500h2.500a1 1 0 0 1 1 1V6M13.500 10v2.500a1 1 0 0 1-1 1H10M6 13.500H3.500a1 1 0 0 1-1-1V10" />);
export const Tool = icon(<path d="M9.500 4.200a3 3 0 0 1 3.700-1L11.400 5l.6 1.400 1.400.600 1.600-1.600a3 3 0 0 1-4 3.600L6 13.800a1.300 1.300 0 0 1-1.900-1.900l4.900-4.800a3 3 0 0 1 .5-2.900Z" transform="translate(-.8 .2)" />);
export const Shelf = icon(<><path d="M2.500 13.500h11M2.500 7.500h11M2.500 2.500v11M13.500 2.500v11" /><path d="M5 4v3.500M7 4.500v3M9.500 10v3.500M11.500 9.500v4" /></>);
export const Threads = icon(<path d="M3 4h10M3 8h7M3 12h9" />);
export const Person = icon(<><circle cx="8" cy="5.500" r="2.500" /><path d="M3 13.500c.6-2.600 2.500-4 5-4s4.400 1.400 5 4" /></>);
export const Warn = icon(<><path d="M8 2.500 14 13H2L8 2.500Z" /><path d="M8 6.800v2.600M8 11.200v.1" /></>);
export const Filter = icon(<path d="M2.500 4h11M4.500 8h7M6.500 12h3" />);

export function Logo() {
  return (
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#d9572b" />
      <path d="M9 10v7a4 4 0 0 0 4 4h10M9 10h9a4 4 0 0 1 4 4" fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round" />
      <circle cx="9" cy="10" r="3" fill="#fff" />
      <circle cx="22" cy="15" r="3" fill="#fff" />
      <circle cx="23" cy="21.5" r="3" fill="#fff" />
    </svg>
  );
}
