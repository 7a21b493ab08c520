//go:build linux && (amd64 || arm64)

package nvidia

// symbol is a function of the driver API.
type symbol int

const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuCtxGetCurrent
	cuCtxSetCurrent
	cuCtxSynchronize
	cuCtxEnablePeerAccess
	cuCtxDisablePeerAccess
	cuCtxGetStreamPriorityRange
	cuDeviceGetCount
	cuDeviceGetName
	cuDeviceGetUuid
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDeviceCanAccessPeer
	cuDeviceGetP2PAttribute
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuDevicePrimaryCtxReset
	cuDeviceGetDefaultMemPool
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemAllocManaged
	cuMemAllocAsync
	cuMemAllocFromPoolAsync
	cuMemFreeAsync
	cuMemPoolCreate
	cuMemPoolDestroy
	cuMemPoolTrimTo
	cuMemPoolGetAttribute
	cuMemPoolSetAttribute
	cuMemPoolSetAccess
	cuMemPoolExportToShareableHandle
	cuMemPoolImportFromShareableHandle
	cuMemPoolExportPointer
	cuMemPoolImportPointer
	cuMemPrefetchAsync
	cuMemAdvise
	cuMemRangeGetAttribute
	cuMemHostAlloc
	cuMemFreeHost
	cuMemHostRegister
	cuMemHostUnregister
	cuPointerGetAttributes
	cuMemcpy
	cuMemcpyAsync
	cuMemcpyPeer
	cuMemcpyPeerAsync
	cuMemcpy2D
	cuMemcpy2DAsync
	cuArray3DCreate
	cuArray3DGetDescriptor
	cuArrayDestroy
	cuMemAllocPitch
	cuMemcpy3D
	cuMemcpy3DAsync
	cuTexObjectCreate
	cuTexObjectGetResourceDesc
	cuTexObjectDestroy
	cuSurfObjectCreate
	cuSurfObjectGetResourceDesc
	cuSurfObjectDestroy
	cuMemsetD8
	cuMemsetD16
	cuMemsetD32
	cuMemsetD8Async
	cuMemsetD16Async
	cuMemsetD32Async
	cuMemsetD2D8Async
	cuMemsetD2D16Async
	cuMemsetD2D32Async
	cuStreamCreateWithPriority
	cuStreamGetFlags
	cuStreamDestroy
	cuStreamQuery
	cuStreamSynchronize
	cuStreamWaitEvent
	cuLaunchHostFunc
	cuStreamWaitValue32
	cuStreamWaitValue64
	cuStreamWriteValue32
	cuStreamWriteValue64
	cuStreamBatchMemOp
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventSynchronize
	cuEventElapsedTime
	cuIpcGetMemHandle
	cuIpcOpenMemHandle
	cuIpcCloseMemHandle
	cuIpcGetEventHandle
	cuIpcOpenEventHandle
	cuModuleLoadData
	cuModuleUnload
	cuModuleGetFunctionCount
	cuModuleEnumerateFunctions
	cuModuleGetFunction
	cuModuleGetGlobal
	cuFuncGetName
	cuFuncGetParamInfo
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuOccupancyMaxActiveBlocksPerMultiprocessor
	cuLaunchKernel
	cuLaunchKernelEx
	cuStreamBeginCapture
	cuStreamEndCapture
	cuStreamIsCapturing
	cuStreamGetCaptureInfo
	cuUserObjectCreate
	cuGraphRetainUserObject
	cuGraphGetNodes
	cuGraphNodeGetType
	cuGraphDebugDotPrint
	cuGraphDestroy
	cuGraphInstantiate
	cuGraphExecUpdate
	cuGraphLaunch
	cuGraphExecDestroy
	symbolCount
)

// symbolNames are the versions that cuda.h of CUDA 13.0 names, with older
// alternatives of the same arguments.
var symbolNames = [symbolCount]string{
	cuInit:                             "cuInit",
	cuDriverGetVersion:                 "cuDriverGetVersion",
	cuCtxGetCurrent:                    "cuCtxGetCurrent",
	cuCtxSetCurrent:                    "cuCtxSetCurrent",
	cuCtxSynchronize:                   "cuCtxSynchronize",
	cuCtxEnablePeerAccess:              "cuCtxEnablePeerAccess",
	cuCtxDisablePeerAccess:             "cuCtxDisablePeerAccess",
	cuCtxGetStreamPriorityRange:        "cuCtxGetStreamPriorityRange",
	cuDeviceGetCount:                   "cuDeviceGetCount",
	cuDeviceGetName:                    "cuDeviceGetName",
	cuDeviceGetUuid:                    "cuDeviceGetUuid_v2|cuDeviceGetUuid",
	cuDeviceTotalMem:                   "cuDeviceTotalMem_v2",
	cuDeviceGetAttribute:               "cuDeviceGetAttribute",
	cuDeviceCanAccessPeer:              "cuDeviceCanAccessPeer",
	cuDeviceGetP2PAttribute:            "cuDeviceGetP2PAttribute",
	cuDevicePrimaryCtxRetain:           "cuDevicePrimaryCtxRetain",
	cuDevicePrimaryCtxRelease:          "cuDevicePrimaryCtxRelease_v2|cuDevicePrimaryCtxRelease",
	cuDevicePrimaryCtxReset:            "cuDevicePrimaryCtxReset_v2|cuDevicePrimaryCtxReset",
	cuDeviceGetDefaultMemPool:          "cuDeviceGetDefaultMemPool",
	cuMemGetInfo:                       "cuMemGetInfo_v2",
	cuMemAlloc:                         "cuMemAlloc_v2",
	cuMemFree:                          "cuMemFree_v2",
	cuMemAllocManaged:                  "cuMemAllocManaged",
	cuMemAllocAsync:                    "cuMemAllocAsync",
	cuMemAllocFromPoolAsync:            "cuMemAllocFromPoolAsync",
	cuMemFreeAsync:                     "cuMemFreeAsync",
	cuMemPoolCreate:                    "cuMemPoolCreate",
	cuMemPoolDestroy:                   "cuMemPoolDestroy",
	cuMemPoolTrimTo:                    "cuMemPoolTrimTo",
	cuMemPoolGetAttribute:              "cuMemPoolGetAttribute",
	cuMemPoolSetAttribute:              "cuMemPoolSetAttribute",
	cuMemPoolSetAccess:                 "cuMemPoolSetAccess",
	cuMemPoolExportToShareableHandle:   "cuMemPoolExportToShareableHandle",
	cuMemPoolImportFromShareableHandle: "cuMemPoolImportFromShareableHandle",
	cuMemPoolExportPointer:             "cuMemPoolExportPointer",
	cuMemPoolImportPointer:             "cuMemPoolImportPointer",
	cuMemPrefetchAsync:                 "cuMemPrefetchAsync_v2",
	cuMemAdvise:                        "cuMemAdvise_v2",
	cuMemRangeGetAttribute:             "cuMemRangeGetAttribute",
	cuMemHostAlloc:                     "cuMemHostAlloc",
	cuMemFreeHost:                      "cuMemFreeHost",
	cuMemHostRegister:                  "cuMemHostRegister_v2|cuMemHostRegister",
	cuMemHostUnregister:                "cuMemHostUnregister",
	cuPointerGetAttributes:             "cuPointerGetAttributes",
	cuMemcpy:                           "cuMemcpy",
	cuMemcpyAsync:                      "cuMemcpyAsync",
	cuMemcpyPeer:                       "cuMemcpyPeer",
	cuMemcpyPeerAsync:                  "cuMemcpyPeerAsync",
	cuMemcpy2D:                         "cuMemcpy2D_v2",
	cuMemcpy2DAsync:                    "cuMemcpy2DAsync_v2",
	cuArray3DCreate:                    "cuArray3DCreate_v2",
	cuArray3DGetDescriptor:             "cuArray3DGetDescriptor_v2",
	cuArrayDestroy:                     "cuArrayDestroy",
	cuMemAllocPitch:                    "cuMemAllocPitch_v2",
	cuMemcpy3D:                         "cuMemcpy3D_v2",
	cuMemcpy3DAsync:                    "cuMemcpy3DAsync_v2",
	cuTexObjectCreate:                  "cuTexObjectCreate",
	cuTexObjectGetResourceDesc:         "cuTexObjectGetResourceDesc",
	cuTexObjectDestroy:                 "cuTexObjectDestroy",
	cuSurfObjectCreate:                 "cuSurfObjectCreate",
	cuSurfObjectGetResourceDesc:        "cuSurfObjectGetResourceDesc",
	cuSurfObjectDestroy:                "cuSurfObjectDestroy",
	cuMemsetD8:                         "cuMemsetD8_v2",
	cuMemsetD16:                        "cuMemsetD16_v2",
	cuMemsetD32:                        "cuMemsetD32_v2",
	cuMemsetD8Async:                    "cuMemsetD8Async",
	cuMemsetD16Async:                   "cuMemsetD16Async",
	cuMemsetD32Async:                   "cuMemsetD32Async",
	cuMemsetD2D8Async:                  "cuMemsetD2D8Async",
	cuMemsetD2D16Async:                 "cuMemsetD2D16Async",
	cuMemsetD2D32Async:                 "cuMemsetD2D32Async",
	cuStreamCreateWithPriority:         "cuStreamCreateWithPriority",
	cuStreamGetFlags:                   "cuStreamGetFlags",
	cuStreamDestroy:                    "cuStreamDestroy_v2",
	cuStreamQuery:                      "cuStreamQuery",
	cuStreamSynchronize:                "cuStreamSynchronize",
	cuStreamWaitEvent:                  "cuStreamWaitEvent",
	cuLaunchHostFunc:                   "cuLaunchHostFunc",
	cuStreamWaitValue32:                "cuStreamWaitValue32_v2",
	cuStreamWaitValue64:                "cuStreamWaitValue64_v2",
	cuStreamWriteValue32:               "cuStreamWriteValue32_v2",
	cuStreamWriteValue64:               "cuStreamWriteValue64_v2",
	cuStreamBatchMemOp:                 "cuStreamBatchMemOp_v2",
	cuEventCreate:                      "cuEventCreate",
	cuEventDestroy:                     "cuEventDestroy_v2",
	cuEventRecord:                      "cuEventRecord",
	cuEventQuery:                       "cuEventQuery",
	cuEventSynchronize:                 "cuEventSynchronize",
	cuEventElapsedTime:                 "cuEventElapsedTime_v2|cuEventElapsedTime",
	cuIpcGetMemHandle:                  "cuIpcGetMemHandle",
	cuIpcOpenMemHandle:                 "cuIpcOpenMemHandle_v2|cuIpcOpenMemHandle",
	cuIpcCloseMemHandle:                "cuIpcCloseMemHandle",
	cuIpcGetEventHandle:                "cuIpcGetEventHandle",
	cuIpcOpenEventHandle:               "cuIpcOpenEventHandle",
	cuModuleLoadData:                   "cuModuleLoadData",
	cuModuleUnload:                     "cuModuleUnload",
	cuModuleGetFunctionCount:           "cuModuleGetFunctionCount",
	cuModuleEnumerateFunctions:         "cuModuleEnumerateFunctions",
	cuModuleGetFunction:                "cuModuleGetFunction",
	cuModuleGetGlobal:                  "cuModuleGetGlobal_v2",
	cuFuncGetName:                      "cuFuncGetName",
	cuFuncGetParamInfo:                 "cuFuncGetParamInfo",
	cuFuncGetAttribute:                 "cuFuncGetAttribute",
	cuFuncSetAttribute:                 "cuFuncSetAttribute",
	cuOccupancyMaxActiveBlocksPerMultiprocessor: "cuOccupancyMaxActiveBlocksPerMultiprocessor",
	cuLaunchKernel:          "cuLaunchKernel",
	cuLaunchKernelEx:        "cuLaunchKernelEx",
	cuStreamBeginCapture:    "cuStreamBeginCapture_v2",
	cuStreamEndCapture:      "cuStreamEndCapture",
	cuStreamIsCapturing:     "cuStreamIsCapturing",
	cuStreamGetCaptureInfo:  "cuStreamGetCaptureInfo_v2",
	cuUserObjectCreate:      "cuUserObjectCreate",
	cuGraphRetainUserObject: "cuGraphRetainUserObject",
	cuGraphGetNodes:         "cuGraphGetNodes",
	cuGraphNodeGetType:      "cuGraphNodeGetType",
	cuGraphDebugDotPrint:    "cuGraphDebugDotPrint",
	cuGraphDestroy:          "cuGraphDestroy",
	cuGraphInstantiate:      "cuGraphInstantiateWithFlags",
	cuGraphExecUpdate:       "cuGraphExecUpdate_v2",
	cuGraphLaunch:           "cuGraphLaunch",
	cuGraphExecDestroy:      "cuGraphExecDestroy",
}
