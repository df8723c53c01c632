/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "asm/macroAssembler.hpp"
#include "code/codeBlob.hpp"
#include "code/codeCache.hpp"
#include "code/compressedStream.hpp"
#include "code/debugInfo.hpp"
#include "code/debugInfoRec.hpp"
#include "code/nmethod.hpp"
#include "code/pcDesc.hpp"
#include "locktrace/lockTraceReturnSites.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/globals.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/vmStructs.hpp"
#ifdef AMD64
#include "lockTraceReturnBarriers_x86.hpp"
#endif

extern "C" VMStructEntry* gHotSpotVMStructs;   // vmStructs.cpp

// ---------------------------------------------------------------------------
// Fields

// Fields of code blobs and nmethods by which profilers find their way: where HotSpot's table for the
// serviceability agent, which they read, says that they are.
class LockTraceCodeFields : AllStatic {
 public:
  enum Field { frame_complete, deoptimize, deoptimize_mh, metadata, scopes_data, scopes_pcs, dependencies, fields };

 private:
  static const char* const _names[fields];
  static int _offsets[fields];

  static bool find(int field);

 public:
  // False if the table lacks one.
  static bool find_all();
  static void set(CodeBlob* blob, Field field, int value) { *(int*) ((address) blob + _offsets[field]) = value; }
};

const char* const LockTraceCodeFields::_names[fields] = {
  "_frame_complete_offset", "_deoptimize_offset", "_deoptimize_mh_offset", "_metadata_offset",
  "_scopes_data_offset", "_scopes_pcs_offset", "_dependencies_offset"
};
int LockTraceCodeFields::_offsets[fields];

bool LockTraceCodeFields::find(int field) {
  for (const VMStructEntry* entry = gHotSpotVMStructs; entry->typeName != NULL; entry++) {
    bool is_of_code = strcmp(entry->typeName, "nmethod") == 0 || strcmp(entry->typeName, "CodeBlob") == 0;
    if (!is_of_code || entry->isStatic || strcmp(entry->fieldName, _names[field]) != 0) continue;
    _offsets[field] = (int) entry->offset;
    return true;
  }
  return false;
}

bool LockTraceCodeFields::find_all() {
  for (int field = 0; field < fields; field++) {
    if (!find(field)) return false;
  }
  return true;
}

// ---------------------------------------------------------------------------
// A site

// In the order in which nmethod has these parts.
struct LockTraceReturnSite::Tail {
  enum {
    stub_bytes = 32,
    max_methods = 16,              // inlined in one another at the call; C1 and C2 stop at 9 by default
    max_scope_bytes = 12,          // six numbers, most of them small
    pcs = 3
  };
  u_char    stub[stub_bytes];
  Metadata* methods[max_methods];
  u_char    scopes[1 + max_methods * max_scope_bytes];   // 0 stands for no scope
  PcDesc    pc_descs[pcs];

  static int offset() { return round_to((int) sizeof(nmethod), 16); }
  static int end()    { return offset() + (int) sizeof(Tail); }
};

const address LockTraceReturnSite::claimed = (address) 1;

size_t LockTraceReturnSite::bytes() { return Tail::end(); }

LockTraceReturnSite::Tail* LockTraceReturnSite::tail() const { return (Tail*) ((address) _blob + Tail::offset()); }

address LockTraceReturnSite::stub() const { return tail()->stub; }

bool LockTraceReturnSite::initialize() {
  _return_address = NULL;
  // The name is that by which profilers know compiled methods.
  _blob = BufferBlob::create("nmethod", Tail::end() - (int) sizeof(BufferBlob));
  if (_blob == NULL) return false;
#ifdef AMD64
  CodeBuffer buffer(tail()->stub, Tail::stub_bytes);
  MacroAssembler assembler(&buffer);
  LockTraceReturnBarrierCode::generate_stub(&assembler);
  assembler.flush();
#endif
  return true;
}

// Behind the description, see try_take.
bool LockTraceReturnSite::is_of(address return_address) const {
  return (address) OrderAccess::load_ptr_acquire((volatile intptr_t*) &_return_address) == return_address;
}

bool LockTraceReturnSite::try_take(address return_address) {
  if (Atomic::cmpxchg_ptr(claimed, &_return_address, NULL) != NULL) return false;
  bool is_described = describe(return_address);
  OrderAccess::release_store_ptr(&_return_address, is_described ? return_address : (address) NULL);
  return is_described;
}

void LockTraceReturnSite::give_back_if_in(nmethod* code) {
  if (_return_address > claimed && code->contains(_return_address)) _return_address = NULL;
}

// Deoptimized code has another return address, and a call of a method handle another stack pointer.
static PcDesc* desc_of_call(nmethod* code, address return_address) {
  if (code->is_deopt_pc(return_address) || code->is_method_handle_return(return_address)) return NULL;
  return code->pc_desc_at(return_address);
}

bool LockTraceReturnSite::describe(address return_address) {
  CodeBlob* blob = CodeCache::find_blob(return_address);
  nmethod* code = blob == NULL ? (nmethod*) NULL : blob->as_nmethod_or_null();
  PcDesc* desc = code == NULL ? (PcDesc*) NULL : desc_of_call(code, return_address);
  if (desc == NULL) return false;

  // Innermost first, as they are found; DebugInformationRecorder::describe_scope has what a scope consists of.
  int bcis[Tail::max_methods];
  int count = 0;
  int offset = desc->scope_decode_offset();
  for (; offset != DebugInformationRecorder::serialized_null && count < Tail::max_methods; count++) {
    DebugInfoReadStream scope(code, offset);
    offset = scope.read_int();
    tail()->methods[count] = scope.read_method();
    bcis[count] = scope.read_bci();
  }
  if (count == 0 || offset != DebugInformationRecorder::serialized_null) return false;

  // The scope of a caller comes first.
  CompressedWriteStream scopes(tail()->scopes, sizeof(tail()->scopes), 1);
  int scope = DebugInformationRecorder::serialized_null;
  for (int i = count - 1; i >= 0; i--) {
    int start = scopes.position();
    scopes.write_int(scope);
    scopes.write_int(i + 1);                        // of the methods; 0 stands for no method
    scopes.write_int(bcis[i] - InvocationEntryBci);
    for (int values = 0; values < 3; values++) scopes.write_int(DebugInformationRecorder::serialized_null);
    scope = start;
  }
  int pc_offset = (int) (stub() - _blob->code_begin());
  tail()->pc_descs[0] = PcDesc(PcDesc::lower_offset_limit, DebugInformationRecorder::serialized_null, 0);
  tail()->pc_descs[1] = PcDesc(pc_offset, scope, 0);
  tail()->pc_descs[2] = PcDesc(PcDesc::upper_offset_limit, DebugInformationRecorder::serialized_null, 0);
  set_header(code);
  return true;
}

// All but what the blob itself is. It is no nmethod, but has the fields of one in the same places.
void LockTraceReturnSite::set_header(nmethod* code) {
  memcpy((void*) ((address) _blob + sizeof(CodeBlob)), (void*) ((address) code + sizeof(CodeBlob)),
         sizeof(nmethod) - sizeof(CodeBlob));
  _blob->set_frame_size(code->frame_size());
  LockTraceCodeFields::set(_blob, LockTraceCodeFields::frame_complete, 0);
  // No return address is there.
  LockTraceCodeFields::set(_blob, LockTraceCodeFields::deoptimize, 0);
  LockTraceCodeFields::set(_blob, LockTraceCodeFields::deoptimize_mh, 0);
  LockTraceCodeFields::set(_blob, LockTraceCodeFields::metadata, Tail::offset() + offset_of(Tail, methods));
  LockTraceCodeFields::set(_blob, LockTraceCodeFields::scopes_data, Tail::offset() + offset_of(Tail, scopes));
  LockTraceCodeFields::set(_blob, LockTraceCodeFields::scopes_pcs, Tail::offset() + offset_of(Tail, pc_descs));
  LockTraceCodeFields::set(_blob, LockTraceCodeFields::dependencies, Tail::end());
}

// ---------------------------------------------------------------------------
// All of them

LockTraceReturnSite* LockTraceReturnSites::_sites = NULL;
uint                 LockTraceReturnSites::_sets = 0;

// At most a hundredth of the code cache.
void LockTraceReturnSites::initialize() {
  const uintx part_of_cache = 100;
  if (!LockTraceCodeFields::find_all()) return;
  uint sets = max_sets;
  while (sets > 1 && sets * ways * LockTraceReturnSite::bytes() > ReservedCodeCacheSize / part_of_cache) sets /= 2;
  _sites = NEW_C_HEAP_ARRAY_RETURN_NULL(LockTraceReturnSite, sets * ways, mtInternal);
  if (_sites == NULL) return;
  for (uint i = 0; i < sets * ways; i++) {
    if (!_sites[i].initialize()) return;
  }
  _sets = sets;
}

LockTraceReturnSite* LockTraceReturnSites::set_of(address return_address) {
  uint64_t hash = (uint64_t) (uintptr_t) return_address * UCONST64(0x9e3779b97f4a7c15);
  return &_sites[(uint) (hash >> 32) % _sets * ways];
}

address LockTraceReturnSites::stub_for(address return_address) {
  if (_sets == 0) return NULL;
  LockTraceReturnSite* set = set_of(return_address);
  for (int i = 0; i < ways; i++) {
    if (set[i].is_of(return_address)) return set[i].stub();
  }
  for (int i = 0; i < ways; i++) {
    if (set[i].is_free()) return set[i].try_take(return_address) ? set[i].stub() : (address) NULL;
  }
  return NULL;
}

void LockTraceReturnSites::code_flushed(nmethod* code) {
  for (uint i = 0; i < _sets * ways; i++) _sites[i].give_back_if_in(code);
}
